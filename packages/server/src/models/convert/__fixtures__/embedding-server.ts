import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realEngineBinary } from "../../../../test/real-engine.js";
import { engineEnvironment, freshAddress, startProcess } from "../../../engines/host/index.js";
import { EngineClient } from "../../../engines/llama/client.js";
import { LoadLog } from "../../../engines/llama/load-log.js";

const NEVER = new AbortController().signal;

/** What the real engine makes of texts with one model. */
export interface EmbeddingServer {
  /** The vectors, pooled as the file says. */
  embed(texts: readonly string[]): Promise<number[][]>;
  /** Token ids, the special ones around a text included. */
  tokenize(text: string): Promise<number[]>;
}

/** Runs `use` with a llama-server that serves the file's vectors, on one thread. */
export async function withEmbeddingServer<T>(
  model: string,
  contextTokens: number,
  use: (server: EmbeddingServer) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "run-"));
  const address = await freshAddress(folder, "socket");
  if (address.kind !== "socket") throw new Error("no socket");
  const client = new EngineClient({ socketPath: address.path });
  const loading = new LoadLog(
    () => performance.now(),
    () => {},
  );
  let ready: () => void = () => {};
  const listening = new Promise<void>((resolve) => {
    ready = resolve;
  });
  const server = await startProcess({
    program: realEngineBinary(),
    args: [
      ...["--model", model, "--host", address.path, "--offline", "--no-ui", "--verbosity", "4"],
      ...["--embeddings", "--ctx-size", `${contextTokens}`, "--ubatch-size", `${contextTokens}`],
      ...["--parallel", "1", "--threads", "1", "--threads-batch", "1"],
    ],
    env: engineEnvironment(process.env, {}),
    onLine(line) {
      loading.read(line);
      if (loading.listening !== undefined) ready();
    },
  });
  try {
    const ended = await Promise.race([listening, server.exited]);
    if (ended !== undefined) throw new Error(server.lastLines().join("\n"));
    return await use({
      async embed(texts) {
        const { body } = await client.post("/v1/embeddings", { input: texts }, NEVER);
        return (body as { data: { embedding: number[] }[] }).data.map(({ embedding }) => embedding);
      },
      async tokenize(content) {
        const { body } = await client.post("/tokenize", { content, add_special: true }, NEVER);
        return (body as { tokens: number[] }).tokens;
      },
    });
  } finally {
    await server.stop("now");
    await client.destroy();
    await address.release();
    await rm(folder, { recursive: true, force: true });
  }
}
