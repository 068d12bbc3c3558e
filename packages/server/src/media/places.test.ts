import { expect, it } from "vitest";
import { Places } from "./places.js";

const NEVER = new AbortController().signal;

function held() {
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { ended, end };
}

it("so many run at once, the next one when one has ended or failed", async () => {
  const places = new Places(1);
  const order: string[] = [];
  const first = held();
  const a = places.run(async () => {
    order.push("a");
    await first.ended;
    throw new Error("a failed");
  }, NEVER);
  const b = places.run(async () => order.push("b"), NEVER);
  await Promise.resolve();
  expect(order).toEqual(["a"]);
  first.end();
  await expect(a).rejects.toThrow("a failed");
  await b;
  expect(order).toEqual(["a", "b"]);
});

it("who gives up waiting takes no place", async () => {
  const places = new Places(1);
  const first = held();
  const a = places.run(() => first.ended, NEVER);
  const gone = new AbortController();
  const b = places.run(async () => "b", gone.signal);
  const c = places.run(async () => "c", NEVER);
  gone.abort(new Error("gone"));
  await expect(b).rejects.toThrow("gone");
  first.end();
  await a;
  expect(await c).toBe("c");
});
