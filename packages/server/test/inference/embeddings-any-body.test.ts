import {
  DetokenizeRequest,
  EmbeddingsRequest,
  RerankRequest,
  TokenizeRequest,
} from "@somnus/contract";
import fc from "fast-check";
import type { TObject } from "typebox";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../test-server.js";
import { anyBody } from "./any-body.js";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    toml: `
config_version = 1
[[models]]
id = "vectors"
modality = "embeddings"
weights_path = "bert.gguf"
[[models]]
id = "ranks"
modality = "embeddings"
weights_path = "ranks.gguf"
`,
  });
});
afterAll(() => server.dispose());

const fieldsOf = (schema: unknown) => Object.keys((schema as TObject).properties);

describe("any body", () => {
  it.each([
    ["/v1/embeddings", EmbeddingsRequest, { model: '"vectors"', input: '["a","b"]' }],
    ["/v1/rerank", RerankRequest, { model: '"ranks"', query: '"a"', documents: '["a","b"]' }],
    ["/v1/tokenize", TokenizeRequest, { model: '"vectors"', content: '"a"' }],
    ["/v1/detokenize", DetokenizeRequest, { model: '"vectors"', tokens: "[5]" }],
  ])(
    "of %s is answered or refused by name, never with a server error",
    async (path, schema, usual) => {
      await fc.assert(
        fc.asyncProperty(anyBody(fieldsOf(schema), usual), async (text) => {
          const response = await server.post(path, text);
          const body = await response.json();
          const told = `${response.status} for ${text.slice(0, 300)}: ${JSON.stringify(body).slice(0, 300)}`;
          expect([200, 400, 404], told).toContain(response.status);
          if (response.status === 200) {
            expect(body.hypnos_telemetry, told).toEqual(expect.any(Object));
          } else {
            expect(body.error.message, told).toEqual(expect.any(String));
            expect(body.error.type, told).toEqual(expect.any(String));
          }
        }),
        { numRuns: 2_000 },
      );
      expect(
        (
          await server.post(
            path,
            `{${Object.entries(usual)
              .map(([name, value]) => `"${name}":${value}`)
              .join(",")}}`,
          )
        ).status,
      ).toBe(200);
    },
    120_000,
  );
});
