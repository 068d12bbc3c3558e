import { once } from "node:events";
import { statSync, watch } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { KvPark, MemoryStatus } from "@somnus/contract";
import { afterEach, expect, it } from "vitest";
import { processesOf } from "../keeper-program.js";
import { realEngineBinary, realModel } from "../real-engine.js";
import { startRealServer } from "../test-server.js";

const MODEL = "smollm2:135m";
const TOML = `
config_version = 1
[hardware]
kv_park = true
[[models]]
id = "${MODEL}"
slots = 1
context_len = 2048
threads = 1
`;
/** About 20 MiB of what the engine computes for it: more than one write. */
const LONG = Array.from({ length: 200 }, (_, at) => `river ${(at * 7) % 97}`).join(", ");

let server: Awaited<ReturnType<typeof startRealServer>>;
afterEach(() => server?.dispose());

async function start(enginePath = realEngineBinary()): Promise<void> {
  const modelsDir = dirname(await realModel(MODEL));
  server = await startRealServer({ enginePath, modelsDir, toml: TOML });
}

async function post(path: string, body: unknown): Promise<unknown> {
  const response = await fetch(`${server.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const answer: unknown = await response.json();
  expect(response.status, JSON.stringify(answer)).toBe(200);
  return answer;
}

const get = async (path: string): Promise<unknown> => (await fetch(`${server.url}${path}`)).json();

/** How many tokens of the prompt had not to be computed. */
async function cachedTokens(): Promise<number> {
  const answer = (await post("/v1/chat/completions", {
    model: MODEL,
    messages: [{ role: "user", content: LONG }],
    max_tokens: 2,
  })) as { hypnos_telemetry: { engine: { cached_tokens: number } } };
  return answer.hypnos_telemetry.engine.cached_tokens;
}

const unload = () => post("/v1/memory/tier", { model: MODEL, target_tier: "tier3_nvme_ssd" });

async function theEngine(): Promise<{ pid: number; folder: string }> {
  const [pid] = await processesOf(realEngineBinary());
  const args = (await readFile(`/proc/${pid}/cmdline`, "utf8")).split("\0");
  return { pid: pid!, folder: args[args.indexOf("--slot-save-path") + 1]! };
}

/** Nothing is parked, nothing is left in the folder, and the model is not in memory. */
async function expectNothingLeft(folder: string): Promise<void> {
  expect(await get("/v1/memory/kv-park")).toMatchObject({
    used_bytes: 0,
    models: [],
  } satisfies Partial<KvPark>);
  expect(await readdir(folder)).toEqual([]);
  const { models } = (await get("/v1/memory/status")) as MemoryStatus;
  expect(models[0]).toMatchObject({
    state: "unloaded",
    current_tier: "tier3_nvme_ssd",
    booked_bytes: 0,
  });
}

it("an engine killed while it saves a slot costs the conversation's cache, nothing else", async () => {
  await start();
  await cachedTokens();
  const { pid, folder } = await theEngine();
  const part = once(watch(folder), "change");
  process.kill(pid, "SIGSTOP");
  const gone = unload();
  await part;
  const [name] = await readdir(folder);
  process.kill(pid, "SIGCONT");
  // The server asks the engine to save on this very thread: it has to get its turns.
  while (statSync(join(folder, name!)).size === 0) await new Promise(setImmediate);
  process.kill(pid, "SIGKILL");
  await gone;
  await expectNothingLeft(folder);
  expect(await cachedTokens()).toBe(0);
}, 120_000);

it("an engine that cannot write a slot whole costs the conversation's cache, nothing else", async () => {
  // As on a file system that is full: what a process may write to one file ends at a MiB.
  const place = await mkdtemp(join(tmpdir(), "somnus-test-"));
  try {
    const limited = join(place, "llama-server");
    const lines = [
      "#!/bin/sh",
      "trap '' XFSZ",
      "ulimit -f 2048",
      `exec '${realEngineBinary()}' "$@"`,
    ];
    await writeFile(limited, `${lines.join("\n")}\n`, { mode: 0o700 });
    await start(limited);
    await cachedTokens();
    const { folder } = await theEngine();
    await unload();
    await expectNothingLeft(folder);
    expect(await cachedTokens()).toBe(0);
  } finally {
    await rm(place, { recursive: true });
  }
}, 120_000);
