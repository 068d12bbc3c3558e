import { connect } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../test-server.js";

let server: TestServer;
beforeAll(async () => {
  // Far more than a connection holds for a client that does not read.
  const answer = Array<string>(4_000).fill("w".repeat(4_000)).join(" ");
  server = await startTestServer({ script: { answer } });
});
afterAll(() => server.dispose());

it("a response whose client does not read on ends when it is cancelled, and gives its slot back", async () => {
  const body = JSON.stringify({
    model: "tiny",
    input: "Hello",
    stream: true,
    max_output_tokens: 8_000,
  });
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
  try {
    let text = "";
    const id = new Promise<string>((resolve, reject) => {
      socket.on("error", reject).on("data", (piece) => {
        text += piece;
        if (socket.isPaused() || text.length > 100_000) return;
        const found = /response\.output_text\.delta.*?"item_id":"msg_([0-9a-f]{32})/s.exec(text);
        if (!found) return;
        socket.pause();
        resolve(`resp_${found[1]}`);
      });
    });
    socket.write(
      `POST /v1/responses HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    const path = `${server.url}/v1/responses/${await id}`;
    await server.engine.happened(({ event }) => event === "full");
    const cancelled = await fetch(`${path}/cancel`, { method: "POST" });
    expect(await cancelled.json()).toMatchObject({ status: "cancelled" });
    expect(await (await fetch(path)).json()).toMatchObject({ status: "cancelled" });
    const leases = async () =>
      (await server.memory()).models.find((model) => model.id === "tiny")?.active_leases;
    await expect.poll(leases).toBe(0);

    // What comes when it reads on after all.
    const ended = new Promise((resolve) => socket.on("close", resolve));
    socket.resume();
    await expect.poll(() => text.endsWith("\r\n0\r\n\r\n"), { timeout: 10_000 }).toBe(true);
    expect(text).toContain("event: response.failed");
    const numbers = [...text.matchAll(/"sequence_number":(\d+)/g)].map(([, number]) =>
      Number(number),
    );
    expect(numbers).toEqual(numbers.map((_, at) => at));
    socket.destroy();
    await ended;
  } finally {
    socket.destroy();
  }
});
