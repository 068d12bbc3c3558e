import { readdir, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KvPark } from "@somnus/contract";
import Value from "typebox/value";
import { afterEach, describe, expect, it } from "vitest";
import type { FakeScript } from "../fake-engine/index.js";
import { startTestServer, type TestServer } from "../test-server.js";

const CONFIG = `
config_version = 1
[[models]]
id = "tiny"
weights_path = "tiny.gguf"
slots = 2
`;

let server: TestServer;
afterEach(() => server.dispose());

const start = (more: { flags?: Record<string, unknown>; script?: FakeScript } = {}) =>
  startTestServer({
    ...more,
    toml: CONFIG,
    flags: { "hardware.kv_park": true, ...more.flags },
  });

type Answer = {
  hypnos_telemetry: {
    engine: { cached_tokens: number };
    tier_switch_phases?: { kv_restore_ms?: number; kv_restored_tokens?: number; total_ms: number };
  };
};

const FIRST = [{ role: "user", content: "one two three four five six seven eight" }];
const SECOND = [
  ...FIRST,
  { role: "assistant", content: "one two three four five six seven eight" },
  { role: "user", content: "and then?" },
];

async function say(messages: unknown[]): Promise<Answer["hypnos_telemetry"]> {
  const response = await server.chat({ messages });
  expect(response.status).toBe(200);
  return ((await response.json()) as Answer).hypnos_telemetry;
}
async function swapOut(): Promise<void> {
  const moved = await server.post("/v1/memory/tier", {
    model: "tiny",
    target_tier: "tier3_nvme_ssd",
  });
  expect(moved.status).toBe(200);
}
async function kvPark(change?: Record<string, unknown>): Promise<KvPark> {
  const response = change
    ? await server.post("/v1/memory/kv-park", change)
    : await fetch(`${server.url}/v1/memory/kv-park`);
  expect(response.status).toBe(200);
  const body: unknown = await response.json();
  expect([...Value.Errors(KvPark, body)]).toEqual([]);
  return body as KvPark;
}
/** Where the engine was told to save its slots. */
async function folder(): Promise<string> {
  const started = (await server.engine.journal()).findLast(({ event }) => event === "start")!;
  return started.args![started.args!.indexOf("--slot-save-path") + 1]!;
}
const actions = async () =>
  (await server.engine.journal()).filter(({ event }) => event === "slot").map((e) => e.action);

describe("KV parking", () => {
  it("gives a conversation back when its model is loaded again, and tells so", async () => {
    server = await start();
    await say(FIRST);
    expect(await kvPark()).toMatchObject({ enabled: true, used_bytes: 0, models: [] });
    await swapOut();
    const parked = await kvPark();
    expect(parked.models).toMatchObject([{ model: "tiny", slots: 1 }]);
    const [{ tokens, bytes, parked_secs_ago: ago }] = parked.models as [KvPark["models"][0]];
    expect(tokens).toBeGreaterThan(8);
    expect(parked.used_bytes).toBe(bytes);
    expect(ago).toBeLessThan(60);
    expect((await stat(await folder())).mode & 0o777).toBe(0o700);
    const { engine, tier_switch_phases: phases } = await say(SECOND);
    expect(engine.cached_tokens).toBeGreaterThan(8);
    expect(phases).toMatchObject({ kv_restored_tokens: tokens });
    expect(phases!.kv_restore_ms).toBeGreaterThan(0);
    expect(await actions()).toEqual(["save", "restore"]);
    expect((await kvPark()).used_bytes).toBe(0);
    expect(await readdir(await folder())).toEqual([]);
    expect((await server.memory()).kv_park).toEqual(await kvPark());
  });

  it("keeps nothing while it is off, and drops all when it is turned off", async () => {
    server = await start({ flags: { "hardware.kv_park": false } });
    await say(FIRST);
    await swapOut();
    expect((await kvPark()).models).toEqual([]);
    expect((await say(SECOND)).engine.cached_tokens).toBe(0);
    expect(await kvPark({ enabled: true })).toMatchObject({ enabled: true });
    await swapOut();
    expect((await kvPark()).models).toHaveLength(1);
    expect(await kvPark({ max_bytes: 1 })).toMatchObject({ max_bytes: 1, models: [] });
    expect(await kvPark({ enabled: false, max_bytes: null })).toMatchObject({ enabled: false });
    expect(await readdir(await folder())).toEqual([]);
  });

  it.each([{}, { enabled: null }, { enabled: "yes" }, { max_bytes: 0 }, { max_bytes: 1.5 }])(
    "refuses %o",
    async (change) => {
      server = await start();
      expect((await server.post("/v1/memory/kv-park", change)).status).toBe(400);
    },
  );

  it.each<[string, FakeScript["slots"]]>([
    ["ends while it saves", { save: "die" }],
    ["cannot save", { save: "fail" }],
    ["says that all is saved, and the disk was full", { save: "cut" }],
    ["ends while it restores", { restore: "die" }],
    ["cannot restore", { restore: "fail" }],
  ])("an engine that %s costs the conversation's cache, nothing else", async (_, slots) => {
    server = await start();
    await say(FIRST);
    await server.engine.script({ slots: slots! });
    await swapOut();
    if (slots!.save) expect((await kvPark()).models).toEqual([]);
    expect((await say(SECOND)).engine.cached_tokens).toBe(0);
    expect(await readdir(await folder())).toEqual([]);
    await server.engine.script({});
    await swapOut();
    expect((await say(SECOND)).engine.cached_tokens).toBeGreaterThan(8);
  });

  it.each<[string, (file: string) => Promise<void>]>([
    ["cut", (file) => truncate(file, 10)],
    ["changed", async (file) => writeFile(file, "x".repeat((await stat(file)).size))],
  ])("a file that was %s is not given to an engine", async (_, harm) => {
    server = await start();
    await say(FIRST);
    await swapOut();
    const [name] = await readdir(await folder());
    await harm(join(await folder(), name!));
    expect((await say(SECOND)).engine.cached_tokens).toBe(0);
    expect(await actions()).toEqual(["save"]);
    expect(await readdir(await folder())).toEqual([]);
  });

  it("leaves no folder behind", async () => {
    server = await start();
    await say(FIRST);
    const path = await folder();
    expect(path.startsWith("/dev/shm") || path.startsWith(tmpdir())).toBe(true);
    await swapOut();
    await server.server.close({ drainMs: 0 });
    await expect(stat(path)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("empties slots that nobody uses, and then there is nothing to park", async () => {
    server = await start({ flags: { "server.kv_idle_timeout_secs": 0.05 } });
    await say(FIRST);
    await server.engine.happened(({ action }) => action === "erase");
    await swapOut();
    expect(await actions()).toEqual(["erase"]);
  });

  it("keeps conversations when the pool grows, also while parking is off", async () => {
    server = await start({
      flags: { "hardware.kv_park": false },
    });
    await server.post("/v1/memory/tier", {
      model: "tiny",
      target_tier: "tier1_gpu_vram",
      context_len: 512,
    });
    await server.chat({ messages: FIRST, num_ctx: 500 });
    const more = await server.chat({ messages: SECOND, num_ctx: 1_000 });
    const telemetry = ((await more.json()) as Answer).hypnos_telemetry;
    expect(telemetry.engine.cached_tokens).toBeGreaterThan(8);
    expect(await actions()).toEqual(["save", "restore"]);
    const contexts = (await server.engine.journal())
      .filter(({ event }) => event === "start")
      .map(({ args }) => args![args!.indexOf("--ctx-size") + 1]);
    expect(contexts).toEqual(["512", "2048"]);
    expect(await readdir(await folder())).toEqual([]);
    await swapOut();
    expect((await kvPark()).models).toEqual([]);
  });
});
