import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { payload, specOf } from "./__fixtures__/payload.js";
import { type Answering, type Asked, serveRanges } from "./__fixtures__/range-server.js";
import { tempDir } from "./__fixtures__/temp-dir.js";
import type { ArtifactSpec } from "./artifact.js";
import { createArtifacts } from "./index.js";

const content = payload(2_000_000);
const SEGMENT = 100_000;
const never = new AbortController().signal;
const limits = {
  backoffMs: 1,
  parallelFrom: 1_000_000,
  segment: SEGMENT,
  connections: 4,
  stallMs: 2_000,
  patientMs: 2_000,
};

async function fetchLarge(
  how: (asked: Asked, index: number) => Answering = () => ({}),
  change: Partial<ArtifactSpec> = {},
) {
  const dir = await tempDir();
  const server = await serveRanges(content, how);
  const spec = { ...specOf(content, [{ type: "https", url: `${server.origin}/m` }]), ...change };
  const shown: number[] = [];
  const outcome = await createArtifacts({ limits })
    .fetch(spec, dir, ({ done }) => shown.push(done), never)
    .catch((error: Error) => error);
  const right = await readFile(join(dir, "model.bin")).then(
    (bytes) => bytes.equals(content),
    () => false,
  );
  return { dir, server, spec, outcome, right, shown };
}

describe("a large file", () => {
  it.each([
    ["a weak ETag", { etag: 'W/"x"' }],
    ["nothing", { etag: null }],
  ])("of unknown content that only %s names comes whole, over one connection", async (_, head) => {
    const { server, outcome, right } = await fetchLarge(() => head, { size: null, sha256: null });
    expect(outcome).toMatchObject({ pinnedBy: "first download" });
    expect(right).toBe(true);
    expect(server.requests.at(-1)?.range).toBeNull();
    expect(server.requests).toHaveLength(2);
  });

  it.each([
    ["of known size", {}],
    ["of unknown size", { size: null, sha256: null }],
  ])("%s comes in pieces over several connections, each byte once", async (_, change) => {
    let allAsked = () => {};
    const until = new Promise<void>((resolve) => {
      allAsked = resolve;
    });
    const { server, right, shown } = await fetchLarge((_, index) => {
      if (index === 3) allAsked();
      // The first ones end only once all four are there.
      return index < 4 ? { hold: { after: 16_384, until } } : {};
    }, change);
    expect(right).toBe(true);
    expect(server.peak()).toBe(4);
    expect(server.sent()).toBe(content.length);
    const starts = server.requests.map(({ range }) => range?.start).sort((a, b) => a! - b!);
    expect(starts).toEqual(Array.from({ length: 20 }, (_, index) => index * SEGMENT));
    expect(shown).toEqual(shown.toSorted((a, b) => a - b));
  });

  it("comes over one connection from a server that sends whole files only", async () => {
    const { server, right } = await fetchLarge(() => ({ ranges: false }));
    expect(right).toBe(true);
    expect(server.requests).toHaveLength(1);
  });

  it("comes over fewer connections when a server minds many", async () => {
    const open = new Set<Asked>();
    const { server, right } = await fetchLarge((asked) => {
      const size = (asked.range?.end ?? 0) - (asked.range?.start ?? 0);
      for (const one of open) {
        if (one.sent >= SEGMENT) open.delete(one);
      }
      if (open.size > 0) return { status: 429 };
      if (size > 0) open.add(asked);
      return {};
    });
    expect(right).toBe(true);
    expect(server.requests.length).toBeGreaterThanOrEqual(20);
  });

  it("comes whole from a server that sends less than it is asked for", async () => {
    const { right, server } = await fetchLarge(() => ({ pieceLimit: 60_000 }));
    expect(right).toBe(true);
    expect(server.sent()).toBe(content.length);
  });

  it("comes whole when connections are cut, without what was here already", async () => {
    const { right, server } = await fetchLarge((_, index) =>
      index % 3 === 1 ? { cutAfter: 30_000 } : {},
    );
    expect(right).toBe(true);
    expect(server.sent()).toBeLessThan(1.5 * content.length);
  });

  it("begins anew when the file changes between two pieces", async () => {
    const other = payload(2_000_000, 3);
    const { dir, outcome } = await fetchLarge(
      (_, index) => (index < 5 ? {} : { content: other, etag: '"v2"', ignoresIfRange: true }),
      { size: null, sha256: null },
    );
    expect(outcome).toMatchObject({ size: other.length });
    expect((await readFile(join(dir, "model.bin"))).equals(other)).toBe(true);
  });

  it("keeps its finished pieces when it is cancelled", async () => {
    const dir = await tempDir();
    const stop = new AbortController();
    let holding = true;
    const server = await serveRanges(content, (asked) =>
      holding && (asked.range?.start ?? 0) >= 10 * SEGMENT
        ? { hold: { after: 0, until: new Promise(() => {}) } }
        : {},
    );
    const spec = specOf(content, [{ type: "https", url: `${server.origin}/m` }]);
    const fetching = createArtifacts({ limits }).fetch(
      spec,
      dir,
      ({ done }) => {
        if (done >= 10 * SEGMENT) stop.abort(new Error("cancelled"));
      },
      stop.signal,
    );
    // Progress may be due before the last piece and not again after it.
    const poll = setInterval(() => {
      if (server.sent() >= 10 * SEGMENT) stop.abort(new Error("cancelled"));
    }, 300);
    await expect(fetching).rejects.toThrow("cancelled");
    clearInterval(poll);
    holding = false;
    const before = server.requests.length;
    await createArtifacts({ limits }).fetch(spec, dir, () => {}, never);
    const asked = server.requests.slice(before).map(({ range }) => range?.start ?? 0);
    expect(Math.min(...asked)).toBeGreaterThanOrEqual(10 * SEGMENT);
    expect((await readFile(join(dir, "model.bin"))).equals(content)).toBe(true);
  });
});
