import { expect, it, vi } from "vitest";
import type { Machine } from "../machine.js";
import { createMachineWatch } from "./machine-watch.js";

/** Readings that end when the test says so, and a clock that it moves. */
function setUp() {
  const open: { signal: AbortSignal; end(machine: Machine): void; fail(error: Error): void }[] = [];
  const clock = { ms: 0 };
  const read = vi.fn(
    (signal: AbortSignal) =>
      new Promise<Machine>((resolve, reject) => {
        open.push({ signal, end: resolve, fail: reject });
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      }),
  );
  const failures: unknown[] = [];
  const watch = createMachineWatch({
    ...{ read, maxAgeMs: 3_000, now: () => clock.ms },
    onFailure: (error) => failures.push(error),
  });
  return { watch, read, open, clock, failures };
}
const machine = (name: string) => ({ name }) as Machine;
const settled = () => new Promise((resolve) => setImmediate(resolve));

it("reads once for all who ask meanwhile", async () => {
  const { watch, read, open } = setUp();
  const asked = [watch.current(), watch.current(), watch.current()];
  expect(watch.latest()).toBeNull();
  expect(read).toHaveBeenCalledTimes(1);
  open[0]?.end(machine("a"));
  expect((await Promise.all(asked)).map(({ name }) => name)).toEqual(["a", "a", "a"]);
});

it("keeps a reading for a while, and renews it behind the scenes", async () => {
  const { watch, read, open, clock } = setUp();
  const first = watch.current();
  open[0]?.end(machine("a"));
  await first;
  clock.ms = 3_000;
  expect(watch.latest()?.name).toBe("a");
  expect((await watch.current()).name).toBe("a");
  expect(read).toHaveBeenCalledTimes(1);
  clock.ms = 3_001;
  expect(watch.latest()?.name).toBe("a");
  expect(watch.latest()?.name).toBe("a");
  expect(read).toHaveBeenCalledTimes(2);
  open[1]?.end(machine("b"));
  await settled();
  expect(watch.latest()?.name).toBe("b");
});

it("begins a reading after the asking when it must be fresh, one for all who ask", async () => {
  const { watch, read, open } = setUp();
  const early = watch.current();
  const late = [watch.fresh(), watch.fresh()];
  await settled();
  expect(read).toHaveBeenCalledTimes(1);
  open[0]?.end(machine("before"));
  expect((await early).name).toBe("before");
  await settled();
  expect(read).toHaveBeenCalledTimes(2);
  open[1]?.end(machine("after"));
  expect((await Promise.all(late)).map(({ name }) => name)).toEqual(["after", "after"]);
});

it("reads again when fresh is asked for while the last reading is young", async () => {
  const { watch, read, open } = setUp();
  const first = watch.current();
  open[0]?.end(machine("a"));
  await first;
  const second = watch.fresh();
  expect(read).toHaveBeenCalledTimes(2);
  open[1]?.end(machine("b"));
  expect((await second).name).toBe("b");
});

it("lets one leave without ending the reading of the others", async () => {
  const { watch, open } = setUp();
  const leaving = new AbortController();
  const [left, stays] = [watch.current(leaving.signal), watch.current()];
  leaving.abort(new Error("left"));
  await expect(left).rejects.toThrow("left");
  expect(open[0]?.signal.aborted).toBe(false);
  open[0]?.end(machine("a"));
  expect((await stays).name).toBe("a");
});

it("tells those who wait of a failure, keeps the last reading and tries again", async () => {
  const { watch, open, clock, failures } = setUp();
  const first = watch.current();
  open[0]?.end(machine("a"));
  await first;
  clock.ms = 4_000;
  const waiting = watch.fresh();
  open[1]?.fail(new Error("broken"));
  await expect(waiting).rejects.toThrow("broken");
  expect(watch.latest()?.name).toBe("a");
  open[2]?.fail(new Error("still broken"));
  await settled();
  expect(failures).toEqual([new Error("still broken")]);
  const again = watch.current();
  open[3]?.end(machine("b"));
  expect((await again).name).toBe("b");
});

it("ends the reading under way when it is closed, and begins no other", async () => {
  const { watch, read, open, failures } = setUp();
  const waiting = [watch.current(), watch.fresh()];
  const ended = waiting.map((one) => expect(one).rejects.toThrow("not watched"));
  await watch.close();
  await Promise.all(ended);
  expect(open[0]?.signal.aborted).toBe(true);
  await expect(watch.current()).rejects.toThrow("not watched");
  await expect(watch.fresh()).rejects.toThrow("not watched");
  expect(watch.latest()).toBeNull();
  expect(read).toHaveBeenCalledTimes(1);
  expect(failures).toEqual([]);
});
