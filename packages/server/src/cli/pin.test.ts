import { expect, test } from "vitest";
import { runCli } from "./__fixtures__/cli.js";
import { openFakeDoor } from "./__fixtures__/fake-door.js";

test.each([
  ["pin", true, "tiny:1b is pinned.\n"],
  ["unpin", false, "tiny:1b is not pinned.\n"],
])("%s asks the server and says what it did", async (verb, pinned, told) => {
  const door = await openFakeDoor();
  const { code, out } = await runCli([verb, "tiny:1b", "--url", door.url]);
  expect([code, out]).toEqual([0, told]);
  const body = { model: "tiny:1b", pinned };
  expect(door.asked).toMatchObject([{ path: "/v1/memory/pin", body }]);
});
