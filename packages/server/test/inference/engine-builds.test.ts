import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runCli } from "../../src/cli/__fixtures__/cli.js";
import { loadConfig } from "../../src/config/index.js";
import { type Server, startServer } from "../../src/main.js";
import { createLog } from "../../src/observe/index.js";
import { createFakeEngine, type FakeEngine } from "../fake-engine/index.js";
import { writeTinyLlama } from "../gguf/index.js";

let folder: string;
let onPath: FakeEngine;
let mine: FakeEngine;
let server: Server;
let env: NodeJS.ProcessEnv;

/** A server whose engine is the one on PATH, and another program beside it that nobody has chosen. */
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "somnus-builds-"));
  onPath = await createFakeEngine();
  mine = await createFakeEngine();
  await writeTinyLlama(join(folder, "tiny.gguf"));
  const model = (id: string) => `[[models]]\nid = "${id}"\nweights_path = "tiny.gguf"\n`;
  const toml = `config_version = 1
[pool]
models_dir = "${folder}"
[engines.llama]
source_build = false
release_build = false
[paths]
cache_dir = "${join(folder, "cache")}"
${model("first")}${model("second")}`;
  await writeFile(join(folder, "somnus.toml"), toml);
  const path = [dirname(onPath.path), process.env.PATH].join(delimiter);
  env = { PATH: path, HOME: folder, XDG_RUNTIME_DIR: folder };
  const loaded = await loadConfig({
    file: join(folder, "somnus.toml"),
    env,
    flags: { "server.host": ["127.0.0.1"], "server.port": 0, "server.drain_secs": 1 },
  });
  server = await startServer({ loaded, env, log: createLog("silent") });
  await server.ready;
  expect(server.startup()).toBeNull();
});

afterEach(async () => {
  await server.close({ drainMs: 0 });
  await Promise.all([onPath.dispose(), mine.dispose()]);
  await rm(folder, { recursive: true, force: true });
});

async function chat(model: string): Promise<number> {
  const response = await fetch(`${server.urls[0]}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }] }),
  });
  await response.text();
  return response.status;
}

async function engineVerb(...argv: string[]): Promise<string> {
  const file = join(folder, "somnus.toml");
  const { code, out, err } = await runCli(["engine", ...argv, "--config", file], { env });
  expect(code, err).toBe(0);
  return out;
}

/** Registers the other program and chooses it. */
async function chooseMine(): Promise<string> {
  const done = JSON.parse(await engineVerb("install", "--path", mine.path, "--json")) as {
    id: string;
    next: boolean;
  };
  expect(done).toMatchObject({ event: "done", from: "local", next: false });
  await engineVerb("use", done.id);
  return done.id;
}

const served = async (engine: FakeEngine) =>
  (await engine.journal()).filter(({ event }) => event === "request").length;

test("a running server takes up another build at the next load, without a restart", async () => {
  expect(await chat("first")).toBe(200);
  expect(await served(onPath)).toBe(1);
  const id = await chooseMine();
  // What is loaded goes on as it is.
  expect(await chat("first")).toBe(200);
  expect(await served(mine)).toBe(0);
  expect(await chat("second")).toBe(200);
  expect(await served(mine)).toBe(1);
  expect(await served(onPath)).toBe(2);
  const { choice, engines } = JSON.parse(await engineVerb("list", "--json"));
  expect(choice).toBe(id);
  expect(engines.find((one: { id: string }) => one.id === id)).toMatchObject({
    ...{ next: true, chosen: true, state: "installed", passed_over: null },
  });
}, 60_000);

test("a chosen build whose engines crash at every load gives way to the one before it", async () => {
  await mine.script({ load: { die: { signal: "SIGSEGV" } } });
  const id = await chooseMine();
  expect(await chat("first")).toBe(500);
  // Between failed loads the model rests for a while; a request then is refused at once.
  await expect.poll(() => chat("first"), { timeout: 30_000, interval: 250 }).toBe(200);
  const starts = (await mine.journal()).filter(({ event }) => event === "death");
  expect(starts).toHaveLength(3);
  expect(await served(onPath)).toBe(1);
  expect(await engineVerb("list")).toContain(`Try it again with: somnus engine use ${id}`);
  const { engines } = JSON.parse(await engineVerb("list", "--json"));
  expect(engines.find((one: { id: string }) => one.id === id).passed_over).toMatchObject({
    reason: expect.stringContaining("SIGSEGV"),
  });
}, 60_000);
