import { link, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Progress } from "../observe/index.js";
import { payload, specOf } from "./__fixtures__/payload.js";
import {
  type Answering,
  type Asked,
  type RangeServer,
  serveRanges,
} from "./__fixtures__/range-server.js";
import { tempDir } from "./__fixtures__/temp-dir.js";
import type { ArtifactSpec } from "./artifact.js";
import { createArtifacts } from "./index.js";

const content = payload(900_000);
const never = new AbortController().signal;
const limits = { stallMs: 2_000, patientMs: 2_000, retries: 2, backoffMs: 1 };

/** Fetches from a server that cuts the first connection after `CUT` bytes and then answers as `then` says. */
const CUT = 20 * 16_384;
/** What a broken connection may have delivered without anybody reading it. */
const UNREAD = 2 * 65_536;

/** Where the download went on; no byte before that was sent again. */
function resumedAt({ requests, sent }: RangeServer): number {
  const at = requests[1]?.range?.start ?? 0;
  expect(at).toBeGreaterThan(CUT - UNREAD);
  expect(at).toBeLessThanOrEqual(CUT);
  expect(sent()).toBe(content.length + CUT - at);
  return at;
}

async function cutThen(
  then: (asked: Asked, index: number) => Answering,
  change: Partial<ArtifactSpec> = {},
  first: Answering = {},
) {
  const dir = await tempDir();
  const server = await serveRanges(content, (asked, index) =>
    index === 0 ? { ...first, cutAfter: CUT } : then(asked, index),
  );
  const spec = {
    ...specOf(content, [{ type: "https", url: `${server.origin}/m` }]),
    ...change,
  };
  const events: Progress[] = [];
  const outcome = await createArtifacts({ limits })
    .fetch(spec, dir, (progress) => events.push(progress), never)
    .catch((error: Error) => error);
  return { dir, server, events, outcome, spec, file: () => readFile(join(dir, "model.bin")) };
}

describe("a download whose connection is cut", () => {
  it("goes on where it was, of the same state of the file, and fetches no byte twice", async () => {
    const { server, outcome, events, file, dir } = await cutThen(() => ({}));
    expect(outcome).toMatchObject({ cached: false, pinnedBy: "spec" });
    expect((await file()).equals(content)).toBe(true);
    const start = resumedAt(server);
    expect(server.requests).toMatchObject([
      { range: null },
      { range: { start, end: content.length }, ifRange: '"v1"' },
    ]);
    expect(events.every(({ file }) => file === "model.bin")).toBe(true);
    expect((await readdir(dir)).sort()).toEqual([".model.bin.receipt.json", "model.bin"]);
  });

  it("goes on many times as long as bytes come", async () => {
    const { server, outcome } = await cutThen(() => ({ cutAfter: 200_000 }));
    expect(outcome).toMatchObject({ cached: false });
    expect(server.requests.length).toBeGreaterThan(3);
    const starts = server.requests.map(({ range }) => range?.start ?? 0);
    expect(starts).toEqual(starts.toSorted((a, b) => a - b));
  });

  it("is given up after a few tries without bytes, and goes on in a later call", async () => {
    const { server, outcome, dir, spec } = await cutThen((_, index) =>
      index < 20 ? { status: 503 } : {},
    );
    expect(String(outcome)).toMatch(/answered with status 503.* after \d+ of 900000 bytes/);
    const before = server.requests.length;
    expect(before).toBe(1 + 3 + 3);
    for (let index = before; index < 20; index += 1)
      server.requests.push(server.requests[0] as Asked);
    await createArtifacts({ limits }).fetch(spec, dir, () => {}, never);
    expect(server.requests.at(-1)?.range?.start).toBe(server.requests[1]?.range?.start);
  });

  it("dates the state of the file where there is no ETag", async () => {
    const lastModified = "Tue, 01 Sep 2026 10:00:00 GMT";
    const { server, outcome } = await cutThen(
      () => ({ etag: null, lastModified }),
      {},
      {
        etag: null,
        lastModified,
      },
    );
    expect(outcome).toMatchObject({ cached: false });
    expect(server.requests[1]).toMatchObject({
      range: { start: resumedAt(server) },
      ifRange: lastModified,
    });
  });

  it("begins anew when the server sends the whole file again", async () => {
    const { server, outcome, file } = await cutThen(() => ({ ranges: false }));
    expect(outcome).toMatchObject({ cached: false });
    expect(server.requests).toHaveLength(2);
    expect((await file()).equals(content)).toBe(true);
  });

  it.each([
    ["another start", `bytes 0-${content.length - 1}/${content.length}`],
    [
      "an end past what was asked",
      `bytes ${content.length - 9}-${content.length + 9}/${content.length + 10}`,
    ],
  ])("begins anew without pieces when the server names %s", async (_, contentRange) => {
    const { server, outcome, file } = await cutThen((asked) =>
      asked.range ? { contentRange } : {},
    );
    expect(outcome).toMatchObject({ cached: false });
    expect(server.requests.at(-1)).toMatchObject({ range: null });
    expect((await file()).equals(content)).toBe(true);
  });

  it("begins anew after a 416", async () => {
    const { server, outcome } = await cutThen((asked) => (asked.range ? { status: 416 } : {}));
    expect(outcome).toMatchObject({ cached: false });
    expect(server.requests).toHaveLength(3);
  });

  it("survives a server whose ETags differ each time when the hash is known", async () => {
    let count = 1;
    const { outcome, file } = await cutThen(() => {
      count += 1;
      return { etag: `"${count}"`, ignoresIfRange: true, cutAfter: 300_000 };
    });
    expect(outcome).toMatchObject({ cached: false });
    expect((await file()).equals(content)).toBe(true);
  });
});

describe("a download of unknown content whose connection is cut", () => {
  const unknown = { size: null, sha256: null };
  const other = payload(950_000, 5);

  it("goes on while the server says that it is the same file", async () => {
    const { server, outcome, file } = await cutThen(() => ({}), unknown);
    expect(outcome).toMatchObject({ pinnedBy: "first download", size: content.length });
    expect((await file()).equals(content)).toBe(true);
    resumedAt(server);
  });

  it.each([
    ["honours If-Range", false],
    ["ignores If-Range", true],
  ])("begins anew when the file changed on a server that %s", async (_, ignoresIfRange) => {
    const { outcome, file } = await cutThen(
      () => ({ content: other, etag: '"v2"', ignoresIfRange }),
      unknown,
    );
    expect(outcome).toMatchObject({ size: other.length });
    expect((await file()).equals(other)).toBe(true);
  });

  const date = "Mon, 30 Nov 2026 10:00:00 GMT";
  it.each([
    ["nothing names", { etag: null }],
    ["only a weak ETag names", { etag: 'W/"x"' }],
    ["only a date names", { etag: null, lastModified: date }],
  ])("begins anew where %s the state of the file", async (_, head) => {
    const changed = payload(content.length, 5);
    const { server, outcome, file } = await cutThen(
      () => ({ ...head, content: changed, ignoresIfRange: true }),
      unknown,
      head,
    );
    expect(outcome).toMatchObject({ size: content.length });
    expect((await file()).equals(changed)).toBe(true);
    expect(server.sent()).toBe(content.length + CUT);
  });
});

describe("a part that an earlier fetch left", () => {
  async function withPart(known: Partial<ArtifactSpec> = {}, head: Answering = {}) {
    const dir = await tempDir();
    const stop = new AbortController();
    const server = await serveRanges(content, (_, index) =>
      index === 0
        ? { ...head, hold: { after: CUT, until: new Promise(() => {}) } }
        : { ...head, ignoresIfRange: true },
    );
    const spec = {
      ...specOf(content, [{ type: "https", url: `${server.origin}/m` }]),
      ...known,
    };
    const fetching = createArtifacts({ limits }).fetch(spec, dir, () => {}, stop.signal);
    fetching.catch(() => {});
    const part = join(dir, ".model.bin.part");
    while ((await readFile(part).catch(() => Buffer.alloc(0))).length < CUT) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    stop.abort(new Error("cancelled"));
    await expect(fetching).rejects.toThrow("cancelled");
    const again = (change: Partial<ArtifactSpec> = {}) => {
      const events: string[] = [];
      return createArtifacts({ limits })
        .fetch({ ...spec, ...change }, dir, ({ step }) => events.push(step), never)
        .then((artifact) => ({ artifact, events }));
    };
    return { dir, part, server, spec, again };
  }

  it("is gone on with after a cancelled one", async () => {
    const { server, again, dir } = await withPart();
    await again();
    expect(server.requests[1]).toMatchObject({ range: { start: CUT }, ifRange: '"v1"' });
    expect(server.sent()).toBe(content.length);
    expect((await readdir(dir)).sort()).toEqual([".model.bin.receipt.json", "model.bin"]);
  });

  it.each([
    ['W/"x"', { etag: 'W/"x"' }],
    ["a date", { etag: null, lastModified: "Mon, 30 Nov 2026 10:00:00 GMT" }],
  ])("of unknown content is dropped when all that names it is %s", async (_, head) => {
    const { server, again } = await withPart({ size: null, sha256: null }, head);
    await again();
    expect(server.requests.map(({ range }) => range?.start ?? null)).toEqual([0, 0]);
  });

  it("is named, dropped and fetched again once from zero when it is damaged", async () => {
    const { server, part, again, dir } = await withPart();
    const damaged = await readFile(part);
    damaged.fill(7, 1_000, 2_000);
    await writeFile(part, damaged);
    const { events } = await again();
    // All the time: a bar shows the newest step only.
    expect(events.at(-1)).toBe("fetching model.bin again: the part that was kept is damaged");
    expect((await readFile(join(dir, "model.bin"))).equals(content)).toBe(true);
    expect(server.requests.map(({ range }) => range?.start ?? null)).toEqual([null, CUT, null]);
  });

  it("is gone on with from another source of the same content, whose names for it are its own", async () => {
    const { again } = await withPart();
    const mirror = await serveRanges(content, () => ({ etag: '"mirror"' }));
    const { artifact } = await again({
      sources: [{ type: "https", url: `${mirror.origin}/copy` }],
    });
    expect(artifact.source).toBe(`${mirror.origin}/copy`);
    expect(mirror.requests).toMatchObject([{ range: { start: CUT }, ifRange: null }]);
  });

  it("is dropped when another content is wanted by now", async () => {
    const { server, again, dir } = await withPart();
    const newer = payload(900_000, 9);
    const mirror = await serveRanges(newer);
    await again({ ...specOf(newer, [{ type: "https", url: `${mirror.origin}/m` }]) });
    expect(mirror.requests).toMatchObject([{ range: null }]);
    expect(server.requests).toHaveLength(1);
    expect((await readFile(join(dir, "model.bin"))).equals(newer)).toBe(true);
  });

  it("is believed only as far as it is long", async () => {
    const { server, part, again } = await withPart();
    await writeFile(part, content.subarray(0, 1_000));
    await again();
    expect(server.requests[1]).toMatchObject({ range: { start: 1_000 } });
  });

  it.each(["", "{", "null", '{"note_version":1,"ranges":[[5,2]]}'])(
    "is dropped when its note is %o",
    async (note) => {
      const { server, part, again } = await withPart();
      await writeFile(`${part}.json`, note);
      await again();
      expect(server.requests[1]).toMatchObject({ range: null });
    },
  );

  it("is not written into when it has a second name", async () => {
    const { part, dir, again } = await withPart();
    const before = await readFile(part);
    await link(part, join(dir, "mine"));
    await again();
    expect((await readFile(join(dir, "mine"))).equals(before)).toBe(true);
  });
});

it("a complete part is not asked for again", async () => {
  const dir = await tempDir();
  const server = await serveRanges(content);
  const spec = specOf(content, [{ type: "https", url: `${server.origin}/m` }]);
  await writeFile(join(dir, ".model.bin.part"), content);
  await writeFile(
    join(dir, ".model.bin.part.json"),
    JSON.stringify({
      note_version: 1,
      size: content.length,
      sha256: spec.sha256,
      source: "https://elsewhere.invalid/m",
      validator: null,
      ranges: [[0, content.length]],
      joined: [],
    }),
  );
  await createArtifacts({ limits }).fetch(spec, dir, () => {}, never);
  expect(server.requests).toEqual([]);
});
