import { afterEach, describe, expect, it } from "vitest";
import { readChunks, startTestServer, type TestServer } from "../test-server.js";

let server: TestServer;
afterEach(() => server.dispose());
const slow = (rate: number, tokens: number) => ({
  messages: [{ role: "user", content: `[[rate:${rate}]][[tokens:${tokens}]] go` }],
});

describe("a server that shuts down", () => {
  it("lets a stream finish, refuses what waits, and ends its engines", async () => {
    server = await startTestServer();
    const running = await server.chat({ ...slow(20, 10), model: "other", stream: true });
    const waiting = server.chat({ model: "other" });
    await expect.poll(() => server.server.activeRequests()).toBe(2);
    const closed = server.server.close({ drainMs: 5_000 });
    const refused = await waiting;
    expect(refused.status).toBe(499);
    const chunks = await readChunks(running);
    expect(chunks.at(-1)).toMatchObject({
      choices: [{ finish_reason: expect.stringMatching(/stop|length/) }],
    });
    await closed;
    const ends = (await server.engine.journal()).filter((event) => event.event === "terminate");
    expect(ends).toHaveLength(1);
  });

  it("ends a stream with an error chunk when the drain time is over", async () => {
    server = await startTestServer();
    const running = await server.chat({ ...slow(5, 400), stream: true });
    const closed = server.server.close({ drainMs: 300 });
    const chunks = await readChunks(running);
    expect(chunks.at(-1)).toMatchObject({ choices: [{ finish_reason: "error" }] });
    await closed;
  });
});
