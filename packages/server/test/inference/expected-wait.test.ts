import { afterEach, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../test-server.js";

let server: TestServer;
afterEach(() => server.dispose());

const started = (from = 0) => server.engine.happened((event) => event.event === "request", from);
const waitOf = (response: Response) => response.headers.get("x-hypnos-estimated-wait-ms");
/** About 300 ms on the model that has one slot. */
const slow = {
  model: "other",
  messages: [{ role: "user", content: "[[rate:20]] [[tokens:6]]" }],
};
const rowOf = async (id: string) => {
  const status = await server.memory();
  return status.models.find((model) => model.id === id)!;
};
const deadline = (ms: string) => ({
  headers: { "content-type": "application/json", "x-hypnos-deadline-ms": ms },
});

describe("x-hypnos-estimated-wait-ms", () => {
  it("is the load for the first request, on a stream too, and then nothing", async () => {
    server = await startTestServer();
    const first = await server.chat({ stream: true });
    expect(first.status).toBe(200);
    expect(Number(waitOf(first))).toBeGreaterThan(0);
    await first.text();
    const second = await server.chat({});
    expect(waitOf(second)).toBe("0");
    expect(await rowOf("tiny")).toMatchObject({
      service_ms: expect.any(Number),
      estimated_wait_ms: 0,
    });
  });

  it("is absent while a busy model has never served, and about the queue once it has", async () => {
    server = await startTestServer();
    const running = server.chat(slow);
    await started();
    const unknown = await server.chat(slow);
    expect(unknown.status).toBe(200);
    expect(waitOf(unknown)).toBeNull();
    expect((await running).status).toBe(200);

    const from = (await server.engine.journal()).length;
    const again = server.chat(slow);
    await started(from);
    const queued = await Promise.all([server.chat(slow), server.chat(slow)]);
    const waits = queued.map((response) => Number(waitOf(response))).sort((a, b) => a - b);
    const { service_ms: service, wait_estimates: estimates } = await rowOf("other");
    expect(waits[0]).toBeGreaterThan(0);
    expect(waits[1]! - waits[0]!).toBeGreaterThan(service! / 2);
    expect(estimates).toMatchObject({ count: expect.any(Number) });
    expect((await again).status).toBe(200);
  });

  it("is told also with an error that comes after the request was admitted", async () => {
    server = await startTestServer();
    const response = await server.chat({ messages: [{ role: "user", content: "[[die:0]]" }] });
    expect(response.status).toBe(500);
    expect(waitOf(response)).not.toBeNull();
  });
});

describe("x-hypnos-deadline-ms", () => {
  it.each(["soon", "0", "-1", "", "1e3", "Infinity", "5, 6"])("%j is refused", async (value) => {
    server = await startTestServer();
    const response = await server.chat({}, deadline(value));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { type: "invalid_request_error", param: "x-hypnos-deadline-ms" },
    });
  });

  it("that the queue misses is a 503 at once, with whole seconds to wait", async () => {
    server = await startTestServer();
    await server.chat(slow);
    const from = (await server.engine.journal()).length;
    const running = server.chat(slow);
    await started(from);
    const response = await server.chat(slow, deadline("1"));
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("1");
    expect(waitOf(response)).toBeNull();
    expect(await response.json()).toMatchObject({ error: { type: "deadline_unmeetable" } });
    const patient = await server.chat(slow, deadline("60000"));
    expect(patient.status).toBe(200);
    expect((await running).status).toBe(200);
  });

  it("does not hide that the model is unknown", async () => {
    server = await startTestServer();
    expect((await server.chat({ model: "nobody" }, deadline("1"))).status).toBe(404);
  });
});

describe("server.profile", () => {
  const shed = { "limits.overload": "shed", "server.profile": "chat" };

  it("is the deadline of requests that name none, where load is shed", async () => {
    server = await startTestServer({ flags: shed });
    // About 1.4 s.
    const long = { ...slow, messages: [{ role: "user", content: "[[rate:5]] [[tokens:7]]" }] };
    await server.chat(long, deadline("60000"));
    const from = (await server.engine.journal()).length;
    const running = server.chat(long, deadline("60000"));
    await started(from);
    const refused = await server.chat(long);
    expect(refused.status).toBe(503);
    expect(await refused.text()).toContain("the profile chat");
    expect((await running).status).toBe(200);
  });

  it.each([
    ["voice_assistant", { metric: "first_audio", target_ms: 1_500 }],
    ["batch", { metric: "throughput" }],
  ])("%s is shown with its objective", async (name, objective) => {
    server = await startTestServer({ flags: { "server.profile": name } });
    expect(await server.memory()).toMatchObject({ profile: { name, objective } });
  });

  it("is not shown when none is set", async () => {
    server = await startTestServer();
    expect(await server.memory()).not.toHaveProperty("profile");
  });
});
