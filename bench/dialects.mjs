// What the Messages and the Responses dialect cost beside plain chat completions: the same short prompt and answer by
// each, one after the other, so that what else the machine does meets all of them. On an engine that answers at once,
// which leaves the server's own time, and on a real one.
import { writeConfig } from "./lib/config.mjs";
import { scriptedEngine } from "./lib/scripted-engine.mjs";
import { startSomnus } from "./lib/server.mjs";
import { quantile, spread } from "./lib/statistics.mjs";

const ROUNDS = 5;
const PAIRS = 60;
const WARM_UP = 150;

const BODIES = {
  "chat completions": (model, stream) => [
    "/v1/chat/completions",
    { model, messages: [{ role: "user", content: "Say yes." }], max_tokens: 4, stream },
  ],
  messages: (model, stream) => [
    "/v1/messages",
    { model, messages: [{ role: "user", content: "Say yes." }], max_tokens: 4, stream },
  ],
  responses: (model, stream) => [
    "/v1/responses",
    { model, input: "Say yes.", max_output_tokens: 4, store: false, stream },
  ],
};

async function took(url, [path, body]) {
  const sent = JSON.stringify({ ...body, temperature: 0 });
  const startedAt = performance.now();
  const response = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: sent,
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
  return performance.now() - startedAt;
}

/** Prints p50 of each dialect's time less that of plain chat, for both engines, whole and streamed. */
export async function run({ model }) {
  const config = await writeConfig([model], { slots: 4 });
  const scripted = await scriptedEngine();
  try {
    const flags = { "engines.llama.path": scripted.path };
    await against("scripted engine", { file: config.file, flags }, model);
    await against("real engine", { file: config.file }, model);
  } finally {
    await scripted.remove();
    await config.remove();
  }
}

async function against(name, how, model) {
  const somnus = await startSomnus(how);
  try {
    for (const stream of [false, true]) {
      const bodies = Object.entries(BODIES).map(([dialect, body]) => [
        dialect,
        body(model, stream),
      ]);
      for (let at = 0; at < WARM_UP; at++) {
        for (const [, body] of bodies) await took(somnus.url, body);
      }
      const added = new Map();
      for (let round = 0; round < ROUNDS; round++) {
        const times = new Map(bodies.map(([dialect]) => [dialect, []]));
        for (let at = 0; at < PAIRS; at++) {
          const turned = [...bodies.slice(at % 3), ...bodies.slice(0, at % 3)];
          for (const [dialect, body] of turned) {
            times.get(dialect).push(await took(somnus.url, body));
          }
        }
        const p50 = new Map([...times].map(([dialect, all]) => [dialect, quantile(all, 0.5)]));
        for (const [dialect, time] of p50) {
          const list = added.get(dialect) ?? [];
          list.push(time - p50.get("chat completions"));
          added.set(dialect, list);
        }
      }
      for (const [dialect, list] of added) {
        if (dialect === "chat completions") continue;
        const form = stream ? "streamed" : "whole";
        console.log(`${name}, ${form}: ${dialect} adds ${spread(list, 2)} ms to p50`);
      }
    }
  } finally {
    await somnus.stop();
  }
}
