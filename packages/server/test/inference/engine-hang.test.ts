import { afterEach, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../test-server.js";

let server: TestServer;
afterEach(() => server.dispose());

describe("an engine that hangs", () => {
  it("while it answers: 504 after the engine timeout, a new process for the next request", async () => {
    server = await startTestServer({ flags: { "limits.engine_timeout_secs": 0.5 } });
    const response = await server.chat({
      messages: [{ role: "user", content: "[[hang:1]] a b c" }],
    });
    expect(response.status).toBe(504);
    expect(await response.json()).toMatchObject({ error: { type: "timeout" } });
    const next = await server.chat({});
    expect(next.status).toBe(200);
    const starts = (await server.engine.journal()).filter((event) => event.event === "ready");
    expect(starts.length).toBe(2);
  });

  it("while it loads: 504 after the load timeout", async () => {
    server = await startTestServer({
      script: { load: { hang: true } },
      flags: { "limits.load_timeout_secs": 0.5 },
    });
    const response = await server.chat({});
    expect(response.status).toBe(504);
    await server.engine.script({});
    expect((await server.chat({})).status).toBe(200);
  });
});
