import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../test-server.js";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    script: { answer: "ok" },
    toml: `
config_version = 1
[[models]]
id = "tiny"
weights_path = "tiny.gguf"
tools = "prompted"
`,
  });
});
afterAll(() => server.dispose());

/** Deeper than what reads by recursion can go. */
const DEEP = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;
const PART = `{"type":"input_text","text":"Hello","beside":${DEEP}}`;

it.each([
  [
    "a choice of tools",
    `"input":"Hello","tools":[{"type":"function","name":"f"}],"tool_choice":{"type":"allowed_tools","tools":[{"type":"function","name":"f","beside":${DEEP}}],"beside":${DEEP}}`,
  ],
  ["a form of the text", `"input":"Hello","text":{"format":{"type":"text","beside":${DEEP}}}`],
  ["a part of a message", `"input":[{"role":"user","content":[${PART}]}]`],
  [
    "a part of a result",
    `"input":[{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":[${PART}]}]`,
  ],
])("what stands beside the known fields of %s is of no consequence", async (_, fields) => {
  const response = await server.post("/v1/responses", `{"model":"tiny",${fields}}`);
  expect(response.status).toBe(200);
  const answer = await response.text();
  expect(answer).not.toContain("beside");
  const items = await fetch(`${server.url}/v1/responses/${JSON.parse(answer).id}/input_items`);
  expect(items.status).toBe(200);
  expect(await items.text()).not.toContain("beside");
});
