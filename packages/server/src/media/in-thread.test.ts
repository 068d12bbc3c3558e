import { expect, it } from "vitest";
import { inThread } from "./in-thread.js";

const NEVER = new AbortController().signal;
const program = (source: string) => new URL(`data:text/javascript,${encodeURIComponent(source)}`);
const ANSWERING = program(
  'import { parentPort, workerData } from "node:worker_threads"; parentPort.postMessage(workerData);',
);
const HANGING = program("for (;;);");

it("gives the answer", async () => {
  expect(await inThread(ANSWERING, { made: 1 }, 10_000, NEVER)).toEqual({ made: 1 });
});

it("throws the error that is answered, and tells no more than that the thread fell", async () => {
  await expect(inThread(ANSWERING, { error: "no" }, 10_000, NEVER)).rejects.toThrow("no");
  const falling = inThread(program('throw new Error("/a/path")'), {}, 10_000, NEVER);
  await expect(falling).rejects.toThrow(/^the decoder failed$/);
  await expect(inThread(program(""), {}, 10_000, NEVER)).rejects.toThrow("ended with 0");
});

it("ends a thread that takes too long, and one that nobody waits for any more", async () => {
  await expect(inThread(HANGING, {}, 500, NEVER)).rejects.toThrow("longer than 0.5 s");
  const ends = new AbortController();
  const hanging = inThread(HANGING, {}, 60_000, ends.signal);
  const gone = new Error("gone");
  ends.abort(gone);
  await expect(hanging).rejects.toBe(gone);
  await expect(inThread(ANSWERING, {}, 10_000, AbortSignal.abort(gone))).rejects.toBe(gone);
});
