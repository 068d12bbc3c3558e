import { CompletionRequest } from "@somnus/contract";
import fc from "fast-check";
import type { TObject } from "typebox";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../test-server.js";
import { anyBody, isOtherThanJson } from "./any-body.js";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ script: { answer: "ok" } });
});
afterAll(() => server.dispose());

const fields = Object.keys((CompletionRequest as unknown as TObject).properties);
const usual = { model: '"tiny"', prompt: '"Hello"' };

it("any completion body is answered or refused by name, never with a server error", async () => {
  await fc.assert(
    fc.asyncProperty(anyBody(fields, usual), async (text) => {
      const response = await server.post("/v1/completions", text);
      const answer = await response.text();
      if (isOtherThanJson(response.status, answer)) return;
      expect(
        [200, 400, 404],
        `${response.status} for ${text.slice(0, 400)}: ${answer.slice(0, 300)}`,
      ).toContain(response.status);
      if (response.status !== 200) {
        const { error } = JSON.parse(answer);
        expect(error.message).toEqual(expect.any(String));
        expect(error.type).toEqual(expect.any(String));
      } else if (response.headers.get("content-type")!.includes("event-stream")) {
        expect(answer.endsWith("data: [DONE]\n\n")).toBe(true);
        expect(answer).not.toContain('"finish_reason":"error"');
      }
    }),
    { numRuns: 2_000 },
  );
  const after = await server.post("/v1/completions", { model: "tiny", prompt: "Hello" });
  expect(after.status).toBe(200);
}, 120_000);
