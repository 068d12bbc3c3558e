import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startRealServer } from "../../test-server.js";
import { LOOPS } from "./loops.js";
import { steeringFetch } from "./steering-fetch.js";
import { ORDER, Toolbox } from "./three-tools.js";

let server: Awaited<ReturnType<typeof startRealServer>>;
beforeAll(async () => {
  server = await startRealServer({
    toml: `
config_version = 1
[[models]]
id = "qwen2.5-coder:0.5b"
context_len = 4096
`,
  });
});
afterAll(() => server.dispose());

/** One of each client and format, whole and streamed by turns: a scripted engine runs them all. */
const CHOSEN = [
  "openai chat, runTools",
  "openai responses, previous_response_id streamed",
  "openai responses, items replayed",
  "anthropic, toolRunner streamed",
  "AI SDK openai chat, generateText",
  "AI SDK openai responses, streamText",
  "AI SDK anthropic, generateText",
  "AI SDK openai-compatible, streamText",
];

describe("an agent's loop of three tools with a real model", () => {
  it.each(CHOSEN)("runs to its end: %s", async (name) => {
    const { run, choices } = LOOPS.find((loop) => loop.name === name)!;
    const toolbox = new Toolbox();
    // So small a model chooses badly: which tool comes next is said on the way to the server, what it is
    // called with is the model's.
    const last = await run({
      url: server.url,
      model: "qwen2.5-coder:0.5b",
      fetch: steeringFetch(choices),
      toolbox,
    });
    expect(toolbox.calls.map(([tool]) => tool)).toEqual(ORDER);
    expect(toolbox.calls[0]![1]).toMatchObject({ name: expect.stringMatching(/ada/i) });
    expect(toolbox.calls[1]![1]).toEqual({ number: 42 });
    expect(last.trim()).not.toBe("");
  });
});
