import { CompletionRequest } from "@somnus/contract";
import fc from "fast-check";
import type { TObject } from "typebox";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../test-server.js";
import { anyBody, expectMannerly, expectWholeChunks } from "./any-body.js";

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
      await expectMannerly(response, text, { stream: expectWholeChunks });
    }),
    { numRuns: 2_000 },
  );
  const after = await server.post("/v1/completions", { model: "tiny", prompt: "Hello" });
  expect(after.status).toBe(200);
}, 120_000);
