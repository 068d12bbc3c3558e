import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fetcher } from "./__fixtures__/fetcher.js";
import { compiledRoom, startProcess } from "./__fixtures__/other-process.js";
import { payload, specOf } from "./__fixtures__/payload.js";
import { type RangeServer, serveRanges } from "./__fixtures__/range-server.js";
import { tempDir } from "./__fixtures__/temp-dir.js";
import { createArtifacts } from "./index.js";

const content = payload(1_600_000);
const never = new AbortController().signal;
const room = compiledRoom();

/** Kill points: bytes that the server has sent, spread without regularity; what comes after the last is never sent in time. */
const POINTS = Array.from(
  { length: 4 },
  (_, index) => ((index + Math.random()) / 4) * (content.length - 200_000),
);

/** The pieces that the note of the part has. */
async function kept(dir: string): Promise<[number, number][]> {
  const note = await readFile(join(dir, ".model.bin.part.json"), "utf8").catch(() => "");
  return note === "" ? [] : (JSON.parse(note) as { ranges: [number, number][] }).ranges;
}

const bytesOf = (ranges: [number, number][]) =>
  ranges.reduce((sum, [start, end]) => sum + end - start, 0);

/**
 * A server that sends slowly, and nearly nothing more once it has sent `enough` bytes: whoever fetches is still at it
 * when it is killed, however late that comes. From `hurry` on it sends as fast as it can.
 */
async function slowServer(everyMs: number) {
  const state = { enough: Number.POSITIVE_INFINITY, hurried: false };
  const server: RangeServer = await serveRanges(content, () => ({
    everyMs: () => (state.hurried ? 0 : server.sent() >= state.enough ? 400 : everyMs),
  }));
  const spec = specOf(content, [{ type: "https", url: `${server.origin}/m` }]);
  return { server, spec, state };
}

/** Starts a fetch in another process and kills it once `isTime` says so. */
async function killWhen(script: string, isTime: () => boolean | Promise<boolean>): Promise<void> {
  const victim = startProcess(room(), script);
  await victim.line();
  while (!(await isTime())) await new Promise((resolve) => setTimeout(resolve, 5));
  victim.child.kill("SIGKILL");
  await victim.ended;
}

/** Finishes the fetch: exactly what was missing comes, and no byte that the note has. */
async function finish(
  { server, spec, state }: Awaited<ReturnType<typeof slowServer>>,
  dir: string,
  when = "",
) {
  state.hurried = true;
  const here = await kept(dir);
  const before = server.requests.length;
  expect(await readdir(dir), when).not.toContain("model.bin");
  const brought = await createArtifacts().fetch(spec, dir, () => {}, never);
  expect((await readFile(brought.path)).equals(content)).toBe(true);
  expect((await readdir(dir)).sort()).toEqual([".model.bin.receipt.json", "model.bin"]);
  const later = server.requests.slice(before);
  const missing = content.length - bytesOf(here);
  expect(
    later.reduce((sum, { sent }) => sum + sent, 0),
    when,
  ).toBe(missing);
  for (const { range } of later) {
    const [start, end] = [range?.start ?? 0, range?.end ?? content.length];
    expect(here.some(([from, to]) => start < to && end > from)).toBe(false);
  }
}

describe.each([
  ["over one connection", "", 8],
  ["over several connections", "parallelFrom: 500_000, segment: 150_000", 32],
])("a fetch %s that is killed", (_, limits, everyMs) => {
  it("at any of several points is finished by the next one from what is here", async () => {
    await Promise.all(
      POINTS.map(async (bytes) => {
        const dir = await tempDir();
        const slow = await slowServer(everyMs);
        slow.state.enough = bytes;
        await killWhen(fetcher(slow.spec, dir, limits), () => slow.server.sent() >= bytes);
        await finish(slow, dir, `killed after ${bytes} sent bytes`);
      }),
    );
  });

  it("keeps what came until a moment before", async () => {
    const dir = await tempDir();
    const slow = await slowServer(everyMs);
    slow.state.enough = 1_300_000;
    // Noted while bytes come, by nobody who could know that this is the end.
    await killWhen(
      fetcher(slow.spec, dir, limits),
      async () => bytesOf(await kept(dir)) > 1_000_000,
    );
    await finish(slow, dir);
  });
});

it("a fetch that is killed again and again gets there", async () => {
  const dir = await tempDir();
  const slow = await slowServer(20);
  let here = 0;
  for (let step = 1; step <= 4; step += 1) {
    slow.state.enough = slow.server.sent() + 300_000;
    await killWhen(fetcher(slow.spec, dir), async () => bytesOf(await kept(dir)) > here);
    const now = bytesOf(await kept(dir));
    expect(now).toBeGreaterThan(here);
    here = now;
  }
  await finish(slow, dir);
});

it("a fetch that is killed at any moment leaves the old state or the new one, whole", async () => {
  const small = payload(400_000);
  const server = await serveRanges(small);
  const spec = specOf(small, [{ type: "https", url: `${server.origin}/m` }]);
  const round = async () => {
    const dir = await tempDir();
    const victim = startProcess(room(), fetcher(spec, dir));
    await victim.line();
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 60));
    victim.child.kill("SIGKILL");
    await victim.ended;
    const found = await readFile(join(dir, "model.bin")).catch(() => null);
    if (found) expect(found.equals(small)).toBe(true);
    const brought = await createArtifacts().fetch(spec, dir, () => {}, never);
    expect((await readFile(brought.path)).equals(small)).toBe(true);
    expect((await readdir(dir)).filter((name) => name.includes(".lock"))).toEqual([]);
  };
  await Promise.all(Array.from({ length: 6 }, round));
});

it("a lock that a killed fetch left beside its finished file goes with the next fetch", async () => {
  const dir = await tempDir();
  const server = await serveRanges(content);
  const spec = specOf(content, [{ type: "https", url: `${server.origin}/m` }]);
  const artifacts = createArtifacts();
  await artifacts.fetch(spec, dir, () => {}, never);
  const lock = join(dir, ".model.bin.lock");
  const victim = startProcess(
    room(),
    `await room.withLock(${JSON.stringify(lock)}, { signal: new AbortController().signal }, async () => {
      console.log("holding");
      await new Promise((resolve) => setTimeout(resolve, 600_000));
    });`,
  );
  await victim.line();
  await artifacts.fetch(spec, dir, () => {}, never);
  expect(await readdir(lock)).toHaveLength(1);
  victim.child.kill("SIGKILL");
  await victim.ended;
  await artifacts.fetch(spec, dir, () => {}, never);
  expect((await readdir(dir)).sort()).toEqual([".model.bin.receipt.json", "model.bin"]);
});
