import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MemoryStatus } from "@somnus/contract";
import Value from "typebox/value";
import { inject } from "vitest";
import { loadConfig } from "../src/config/index.js";
import { type Server, startServer } from "../src/main.js";
import { createLog } from "../src/observe/index.js";
import { openStore, type Store } from "../src/store/index.js";
import { createFakeEngine, type FakeEngine, type FakeScript } from "./fake-engine/index.js";
import { writeTinyBert, writeTinyLlama, writeTinyReranker } from "./gguf/index.js";

export interface TestServer {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  readonly server: Server;
  readonly engine: FakeEngine;
  readonly store: Store;
  /** With its configuration and model file; removed with the server. */
  readonly folder: string;
  /** Sends JSON to a path of the server. */
  post(path: string, body: unknown, init?: RequestInit): Promise<Response>;
  /** A chat with the model `tiny`, fields on top. */
  chat(fields: Record<string, unknown>, init?: RequestInit): Promise<Response>;
  /** `GET /v1/memory/status`. @throws Error when it is refused, or is not what the contract says */
  memory(): Promise<MemoryStatus>;
  dispose(): Promise<void>;
}

/** Two models, `tiny` and `other`, on the scripted engine. */
const CONFIG = `
config_version = 1
[[models]]
id = "tiny"
weights_path = "tiny.gguf"
[[models]]
id = "other"
weights_path = "tiny.gguf"
slots = 1
`;

/**
 * A whole server in folders of its own, on a free port, that runs the scripted engine.
 * `flags` are configuration values by dotted key; `toml` stands in place of the usual models. With `staging`
 * it is given out while it still gets ready. `keeperProgram`: of `compiledKeeper`, for a test that keeps weights.
 * `prepare` puts files of the test's own beside it.
 * `template` stands in the model's file; what the engine makes of it is its script's to say.
 * `store` and `engine` are the test's own where they are given, and it closes them.
 */
export async function startTestServer(
  options: {
    script?: FakeScript;
    flags?: Record<string, unknown>;
    toml?: string;
    staging?: boolean;
    store?: Store;
    engine?: FakeEngine;
    keeperProgram?: string;
    template?: string;
    prepare?: (folder: string) => Promise<void>;
  } = {},
): Promise<TestServer> {
  const folder = await mkdtemp(join(tmpdir(), "somnus-test-"));
  const engine = options.engine ?? (await createFakeEngine(options.staging ? options.script : {}));
  const file = join(folder, "somnus.toml");
  if (options.toml?.includes("bert.gguf")) await writeTinyBert(join(folder, "bert.gguf"));
  if (options.toml?.includes("ranks.gguf")) await writeTinyReranker(join(folder, "ranks.gguf"));
  await writeTinyLlama(join(folder, "tiny.gguf"), options.template);
  await options.prepare?.(folder);
  await writeFile(file, options.toml ?? CONFIG);
  const env = { PATH: process.env.PATH, HOME: folder, XDG_RUNTIME_DIR: folder };
  const flags = {
    "pool.models_dir": folder,
    "engines.llama.path": engine.path,
    ...options.flags,
  };
  const log = createLog("silent");
  const store = options.store ?? (await openStore({ memory: true, log }));
  const server = await (options.staging ? start : serve)(
    file,
    env,
    flags,
    store,
    options.keeperProgram,
  );
  if (options.script) await engine.script(options.script);
  const url = server.urls[0]!;
  const post = (path: string, body: unknown, init: RequestInit = {}) =>
    fetch(`${url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: typeof body === "string" ? body : JSON.stringify(body),
      ...init,
    });
  return {
    url,
    server,
    engine,
    store,
    folder,
    post,
    chat: (fields, init) =>
      post(
        "/v1/chat/completions",
        { model: "tiny", messages: [{ role: "user", content: "Hello" }], ...fields },
        init,
      ),
    async memory() {
      const response = await fetch(`${url}/v1/memory/status`);
      const body: unknown = await response.json();
      if (response.status === 200 && Value.Check(MemoryStatus, body)) return body;
      const problems = [...Value.Errors(MemoryStatus, body)].map((error) => JSON.stringify(error));
      throw new Error(`the memory status is ${response.status}: ${problems.join(", ")}`);
    },
    async dispose() {
      await server.close({ drainMs: 0 });
      if (options.store === undefined) await store.close();
      if (options.engine === undefined) await engine.dispose();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * A whole server on a free port with the real engine, its models kept in a folder that is there: those of the test
 * run where no others are named.
 */
export async function startRealServer(options: {
  enginePath?: string;
  modelsDir?: string;
  toml: string;
  flags?: Record<string, unknown>;
  store?: Store;
  keeperProgram?: string;
}): Promise<{ url: string; server: Server; dispose(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "somnus-test-"));
  const file = join(folder, "somnus.toml");
  await writeFile(file, options.toml);
  const env = { PATH: process.env.PATH, HOME: folder, XDG_RUNTIME_DIR: folder };
  const store = options.store ?? (await openStore({ memory: true, log: createLog("silent") }));
  const flags = {
    "pool.models_dir": options.modelsDir ?? inject("modelsDir"),
    "engines.llama.path": options.enginePath ?? inject("enginePath"),
    ...options.flags,
  };
  const server = await serve(file, env, flags, store, options.keeperProgram);
  return {
    url: server.urls[0]!,
    server,
    async dispose() {
      await server.close({ drainMs: 0 });
      if (options.store === undefined) await store.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function serve(...how: Parameters<typeof start>): Promise<Server> {
  const server = await start(...how);
  await server.ready;
  const failed = server.startup();
  if (failed) throw new Error(`the test server did not get ready: ${failed.reason}`);
  return server;
}

async function start(
  file: string,
  env: NodeJS.ProcessEnv,
  flags: Record<string, unknown>,
  store: Store,
  keeperProgram?: string,
): Promise<Server> {
  const loaded = await loadConfig({
    file,
    env,
    flags: {
      "server.host": ["127.0.0.1"],
      "server.port": 0,
      "server.drain_secs": 1,
      ...flags,
    },
  });
  return startServer({
    loaded,
    env,
    log: createLog("silent"),
    store,
    ...(keeperProgram === undefined ? {} : { keeperProgram }),
  });
}

/** The JSON chunks of an SSE body; the `[DONE]` that must end it is checked and left out. */
export async function readChunks(response: Response): Promise<Record<string, unknown>[]> {
  const text = await response.text();
  const lines = text.split("\n\n").filter((line) => line.startsWith("data: "));
  const last = lines.pop();
  if (last !== "data: [DONE]") throw new Error(`the stream ends with ${last}`);
  return lines.map((line) => JSON.parse(line.slice("data: ".length)));
}
