import { afterEach, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../test-server.js";

let server: TestServer;
afterEach(() => server.dispose());

const pin = (body: Record<string, unknown>) => server.post("/v1/memory/pin", body);

async function isPinned(): Promise<boolean> {
  return (await server.memory()).models[0]!.pinned;
}

it("pins a model and takes the pin away", async () => {
  server = await startTestServer();
  const pinned = await pin({ model: "tiny", pinned: true });
  expect([pinned.status, await pinned.json()]).toEqual([
    200,
    { model: "tiny", pinned: true, resident: false },
  ]);
  expect(await isPinned()).toBe(true);
  // Its time is over at once, but for the pin.
  await server.chat({ keep_alive: 0 });
  expect(await (await pin({ model: "tiny", pinned: false })).json()).toEqual({
    model: "tiny",
    pinned: false,
    resident: true,
  });
  expect(await isPinned()).toBe(false);
});

it("refuses a model that there is not, and what is no pin", async () => {
  server = await startTestServer();
  expect((await pin({ model: "nobody", pinned: true })).status).toBe(404);
  expect((await pin({ model: "tiny", pinned: "yes" })).status).toBe(400);
});
