import { readdir, readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../test-server.js";

const ROOT = new URL("../../../../", import.meta.url);
const MODELS = `
config_version = 1
[[models]]
id = "qwen2.5-coder:0.5b"
weights_path = "tiny.gguf"
[[models]]
id = "smollm2:135m"
weights_path = "tiny.gguf"
[[models]]
id = "all-minilm:l6-v2"
modality = "embeddings"
weights_path = "bert.gguf"
[[models]]
id = "my-reranker"
modality = "embeddings"
context_len = 256
weights_path = "ranks.gguf"
`;

/** One command of a guide, as curl would send it. */
interface Example {
  guide: string;
  path: string;
  body: string | undefined;
}

/** Every curl command of the README and the guides that asks this server. */
async function examples(): Promise<Example[]> {
  const names = (await readdir(new URL("docs/guides/", ROOT))).map((name) => `docs/guides/${name}`);
  const found = await Promise.all(
    ["README.md", ...names].map(async (guide) => {
      const text = await readFile(new URL(guide, ROOT), "utf8");
      const blocks = [...text.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block]) => block!);
      return blocks.flatMap((block) => commands(block).map((command) => read(guide, command)));
    }),
  );
  return found.flat().filter((example) => example !== null);
}

/** The curl commands of a block; an argument in quotes may go over several lines. */
function commands(block: string): string[] {
  return [...block.matchAll(/^curl (?:'[^']*'|\\\n|[^\n'])*/gm)].map(([command]) => command);
}

function read(guide: string, command: string): Example | null {
  const url = /(?:http:\/\/)?(?:localhost|127\.0\.0\.1):9999(\/[^\s'"]*)/.exec(command);
  if (!url) return null;
  const body = /-d\s+'([^']*)'/.exec(command)?.[1];
  // A picture or a sound of which only the beginning is shown.
  if (body?.includes("...")) return null;
  // A token of the real vocabulary.
  return { guide, path: url[1]!, body: body?.replace('"tokens": [9707]', '"tokens": [107]') };
}

const all = await examples();
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ toml: MODELS, script: { answer: "Hello." } });
});
afterAll(() => server.dispose());

describe("the guides' examples", () => {
  it("are found", () => {
    expect(all.length).toBeGreaterThan(6);
  });

  it.each(all)("are answered: $guide $path", async ({ path, body }) => {
    const response =
      body === undefined ? await fetch(`${server.url}${path}`) : await server.post(path, body);
    const text = await response.text();
    expect(response.status, text).toBe(200);
  });
});
