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

/** Kill points: bytes that the server has sent, spread over the whole file without regularity. */
const POINTS = Array.from(
  { length: 4 },
  (_, index) => ((index + Math.random()) / 4) * content.length,
);

/** What the note of the part says is here. */
async function kept(dir: string): Promise<[number, number][]> {
  const note = await readFile(join(dir, ".model.bin.part.json"), "utf8").catch(() => "");
  return note === "" ? [] : (JSON.parse(note) as { ranges: [number, number][] }).ranges;
}

/** Starts a fetch in another process and kills it once the server has sent so many bytes. */
async function killAt(server: RangeServer, script: string, bytes: number): Promise<void> {
  const victim = startProcess(room(), script);
  await victim.line();
  while (server.sent() < bytes) await new Promise((resolve) => setTimeout(resolve, 5));
  victim.child.kill("SIGKILL");
  await victim.ended;
}

describe.each([
  ["over one connection", ""],
  ["over several connections", "parallelFrom: 500_000, segment: 150_000"],
])("a fetch %s that is killed", (_, limits) => {
  it.each(POINTS)(
    "after %d sent bytes is finished by the next one from what is here",
    async (bytes) => {
      const dir = await tempDir();
      let slow = true;
      const server = await serveRanges(content, () => ({ everyMs: slow ? 8 : 0 }));
      const spec = specOf(content, [{ type: "https", url: `${server.origin}/m` }]);
      await killAt(server, fetcher(spec, dir, limits), bytes);
      slow = false;
      const here = await kept(dir);
      const before = server.requests.length;
      const names = await readdir(dir);
      expect(names).not.toContain("model.bin");

      const brought = await createArtifacts().fetch(spec, dir, () => {}, never);
      expect((await readFile(brought.path)).equals(content)).toBe(true);
      expect((await readdir(dir)).sort()).toEqual([".model.bin.receipt.json", "model.bin"]);
      // Exactly what was missing came, and no byte that the note has.
      const later = server.requests.slice(before);
      const missing = content.length - here.reduce((sum, [start, end]) => sum + end - start, 0);
      expect(later.reduce((sum, { sent }) => sum + sent, 0)).toBe(missing);
      for (const { range } of later) {
        const [start, end] = [range?.start ?? 0, range?.end ?? content.length];
        expect(here.some(([from, to]) => start < to && end > from)).toBe(false);
      }
    },
  );

  it("keeps what came until a moment before", async () => {
    const dir = await tempDir();
    const server = await serveRanges(content, () => ({ everyMs: 8 }));
    const spec = specOf(content, [{ type: "https", url: `${server.origin}/m` }]);
    await killAt(server, fetcher(spec, dir, limits), 1_400_000);
    const here = (await kept(dir)).reduce((sum, [start, end]) => sum + end - start, 0);
    expect(here).toBeGreaterThan(400_000);
  });
});

it("a fetch that is killed again and again gets there", async () => {
  const dir = await tempDir();
  const server = await serveRanges(content, () => ({ everyMs: 4 }));
  const spec = specOf(content, [{ type: "https", url: `${server.origin}/m` }]);
  for (let step = 1; step <= 4; step += 1) {
    await killAt(server, fetcher(spec, dir), server.sent() + 350_000);
  }
  const brought = await createArtifacts().fetch(spec, dir, () => {}, never);
  expect((await readFile(brought.path)).equals(content)).toBe(true);
  expect(server.sent()).toBeLessThan(2 * content.length);
});

it("a fetch that is killed at any moment leaves the old state or the new one, whole", async () => {
  const small = payload(400_000);
  const server = await serveRanges(small);
  const spec = specOf(small, [{ type: "https", url: `${server.origin}/m` }]);
  for (let round = 0; round < 6; round += 1) {
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
  }
});
