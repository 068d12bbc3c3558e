import { afterEach, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../test-server.js";

let server: TestServer;
afterEach(() => server.dispose());

const events = async (name: string) =>
  (await server.engine.journal()).filter((event) => event.event === name);
const slow = { messages: [{ role: "user", content: "[[rate:20]] one two three four five six" }] };

describe("admission", () => {
  it("loads a model once for many waiters", async () => {
    server = await startTestServer({ script: { load: { ms: 200 } } });
    const answers = await Promise.all(Array.from({ length: 6 }, () => server.chat({})));
    expect(answers.map((answer) => answer.status)).toEqual(Array(6).fill(200));
    expect(await events("start")).toHaveLength(1);
  });

  it("refuses what would wait beyond the bound, without Retry-After", async () => {
    server = await startTestServer({ flags: { "limits.max_queue_per_model": 2 } });
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => server.chat({ ...slow, model: "other" })),
    );
    const busy = answers.filter((answer) => answer.status === 429);
    expect(busy).toHaveLength(2);
    expect(busy[0]!.headers.get("retry-after")).toBeNull();
    expect(await busy[0]!.json()).toMatchObject({ error: { type: "model_busy" } });
  });

  it("keeps a conversation in its slot while others come in between", async () => {
    server = await startTestServer();
    const system = { role: "system", content: "You are the assistant of a long system prompt." };
    const talk = async (history: { role: string; content: string }[]) => {
      await server.chat({ messages: [system, ...history] });
      return (await events("request")).at(-1)!.slot;
    };
    const first = [{ role: "user", content: "The first topic" }];
    const second = [{ role: "user", content: "Another topic" }];
    const a = await talk(first);
    const b = await talk(second);
    expect(b).not.toBe(a);
    const turn = [
      ...first,
      { role: "assistant", content: "The first topic" },
      { role: "user", content: "More of it" },
    ];
    expect(await talk(turn)).toBe(a);
  });

  it("unloads an idle model, at once for keep_alive 0, and not for a negative one", async () => {
    server = await startTestServer({ flags: { "pool.idle_unload_secs": 0.3 } });
    await server.chat({ keep_alive: 0 });
    await server.engine.happened((event) => event.event === "terminate");
    await server.chat({ keep_alive: -1 });
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(await events("terminate")).toHaveLength(1);
    await server.chat({});
    await expect.poll(async () => (await events("terminate")).length).toBe(2);
  });

  it("makes a request wait until the context that it reserves is free", async () => {
    server = await startTestServer({
      toml: `config_version = 1\n[[models]]\nid = "tiny"\nweights_path = "tiny.gguf"\ncontext_len = 1024\nslots = 2\n`,
    });
    const running = server.chat({ ...slow, num_ctx: 800 });
    await server.engine.happened((event) => event.event === "request");
    const waiting = server.chat({ num_ctx: 800 });
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await events("request")).toHaveLength(1);
    expect((await running).status).toBe(200);
    expect((await waiting).status).toBe(200);
  });

  it("refuses what is not loaded when loading on demand is off", async () => {
    server = await startTestServer({ flags: { "pool.autoload": false } });
    const response = await server.chat({});
    expect(response.status).toBe(404);
    expect(await response.text()).toContain("autoload");
  });

  it("resolves aliases and globs of them", async () => {
    server = await startTestServer({
      toml: `config_version = 1\n[aliases]\n"gpt-*" = "tiny"\n[[models]]\nid = "tiny"\nweights_path = "tiny.gguf"\n`,
    });
    const response = await server.chat({ model: "gpt-4o-mini" });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ model: "tiny" });
  });
});
