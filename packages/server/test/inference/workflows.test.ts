import { afterEach, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../test-server.js";

let server: TestServer;
afterEach(() => server.dispose());

const PATH = "/v1/chat/completions";
const withHeaders = (headers: Record<string, string>) => ({
  headers: { "content-type": "application/json", ...headers },
});
const status = () => server.memory();
const slow = { messages: [{ role: "user", content: "[[rate:20]] [[tokens:6]]" }] };

describe("latencies", () => {
  it("of routes and workflows reach to the last byte of a stream", async () => {
    server = await startTestServer();
    await server.chat({}, withHeaders({ "x-hypnos-workflow": "turn/1" }));
    expect((await status()).latency.workflows).toEqual({});
    const last = { "x-hypnos-workflow": "turn/1", "x-hypnos-workflow-end": "true" };
    const streamed = await server.chat({ ...slow, stream: true }, withHeaders(last));
    expect(streamed.status).toBe(200);
    await streamed.text();
    await expect.poll(async () => (await status()).latency.workflows.turn?.count).toBe(1);
    const { routes, workflows } = (await status()).latency;
    expect(workflows.turn!.p50).toBeGreaterThan(250);
    expect(Object.keys(routes)).toEqual([PATH]);
    expect(routes[PATH]!.count).toBe(2);
    expect(routes[PATH]!.p99).toBeGreaterThan(250);
  });

  it("of a workflow end when the client of the last request leaves", async () => {
    server = await startTestServer();
    await server.chat({});
    const from = (await server.engine.journal()).length;
    const leave = new AbortController();
    const last = { "x-hypnos-workflow": "turn/1", "x-hypnos-workflow-end": "true" };
    const gone = server.chat(slow, { ...withHeaders(last), signal: leave.signal });
    await server.engine.happened((event) => event.event === "request", from);
    leave.abort();
    await expect(gone).rejects.toThrow();
    await expect.poll(async () => (await status()).latency.workflows.turn?.count).toBe(1);
    expect((await status()).latency.routes[PATH]!.count).toBe(1);
  });

  it("go on for who is refused and tries again; malformed names change nothing", async () => {
    server = await startTestServer();
    const last = { "x-hypnos-workflow": "turn/1", "x-hypnos-workflow-end": "true" };
    expect((await server.chat({ model: "nobody" }, withHeaders(last))).status).toBe(404);
    const odd = await server.chat({}, withHeaders({ "x-hypnos-workflow": "no slash" }));
    expect(odd.status).toBe(200);
    expect((await status()).latency.workflows).toEqual({});
    await server.chat({}, withHeaders(last));
    await expect.poll(async () => (await status()).latency.workflows.turn?.count).toBe(1);
  });
});

describe("x-hypnos-next-model", () => {
  const next = (id: string) => withHeaders({ "x-hypnos-next-model": id });
  const loaded = async (id: string) =>
    (await status()).models.find((model) => model.id === id)!.state;

  it("is loaded while the request runs", async () => {
    server = await startTestServer();
    expect((await server.chat({}, next("other"))).status).toBe(200);
    await expect.poll(() => loaded("other")).toBe("ready");
    const response = await server.chat({ model: "other" });
    expect(response.headers.get("x-hypnos-estimated-wait-ms")).toBe("0");
    expect(await response.json()).toMatchObject({
      hypnos_telemetry: { previous_tier: "tier1_gpu_vram", tier_switch_latency_ms: 0 },
    });
  });

  it.each(["nobody", "tiny", "a b", ""])("%j changes nothing", async (id) => {
    server = await startTestServer();
    const response = await server.chat({}, next(id));
    expect(response.status).toBe(200);
    expect(await loaded("other")).toBe("unloaded");
    expect((await server.engine.journal()).filter((one) => one.event === "start")).toHaveLength(1);
  });
});
