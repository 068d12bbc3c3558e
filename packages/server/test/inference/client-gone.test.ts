import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../test-server.js";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.dispose());

const long = {
  messages: [{ role: "user", content: "[[rate:4]][[tokens:500]] go" }],
  max_tokens: 50,
};

describe("a client that goes away", () => {
  it.each([{ stream: true }, { stream: false }])(
    "frees its slot within two tokens, also beside another stream, %o",
    async (fields) => {
      const other = await server.chat({ ...long, stream: true });
      const leave = new AbortController();
      const before = (await server.engine.journal()).length;
      const gone = server.chat({ ...long, ...fields }, { signal: leave.signal });
      gone.catch(() => {});
      await expect
        .poll(async () => (await server.engine.journal()).slice(before).map((e) => e.event))
        .toContain("request");
      if (fields.stream) await (await gone).body!.getReader().read();
      leave.abort();
      await expect
        .poll(async () => (await server.engine.journal()).slice(before).map((event) => event.event))
        .toContain("disconnect");
      const events = (await server.engine.journal()).slice(before);
      const end = events.find((event) => event.event === "disconnect")!;
      // The client left at the first token at the latest.
      expect(end.tokens).toBeLessThanOrEqual(1 + 2);
      expect(server.server.activeRequests()).toBe(1);
      await other.body!.cancel();
      await expect.poll(() => server.server.activeRequests()).toBe(0);
    },
  );

  it("leaves the queue when it waits there", async () => {
    const blocking = await server.chat({ ...long, model: "other", stream: true });
    const leave = new AbortController();
    const waiting = server.chat({ model: "other" }, { signal: leave.signal });
    waiting.catch(() => {});
    await expect.poll(() => server.server.activeRequests()).toBe(2);
    leave.abort();
    await expect.poll(() => server.server.activeRequests()).toBe(1);
    await blocking.body!.cancel();
    await expect.poll(() => server.server.activeRequests()).toBe(0);
  });
});
