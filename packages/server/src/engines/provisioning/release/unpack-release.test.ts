import {
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { Header } from "tar";
import { afterEach, beforeEach, expect, test } from "vitest";
import { zip } from "../__fixtures__/zip.js";
import { unpackRelease } from "./unpack-release.js";

let folder: string;
const signal = new AbortController().signal;
const LIMITS = { bytes: 100_000, entries: 50 };

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "somnus-unpack-"));
});

// A refused archive may have files under way.
afterEach(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));

interface Entry {
  path: string;
  type?: "File" | "Directory" | "SymbolicLink" | "Link" | "CharacterDevice";
  linkpath?: string;
  content?: string;
  /** What the header says, where it lies. */
  size?: number;
}

/** A tar archive that says what it is told to, true or not. */
function tarOf(entries: readonly Entry[]): Buffer {
  const blocks = entries.flatMap(({ path, type = "File", linkpath, content = "", size }) => {
    const body = Buffer.from(content);
    const facts = { path, type, size: size ?? body.length, mode: 0o755 };
    const header = new Header(linkpath === undefined ? facts : { ...facts, linkpath });
    const block = Buffer.alloc(512);
    header.encode(block, 0);
    return [block, body, Buffer.alloc((512 - (body.length % 512)) % 512)];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]));
}

async function unpack(archive: Buffer, name = "a.tar.gz", strip = 1): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, archive);
  const into = join(folder, "into");
  await unpackRelease(file, into, strip, LIMITS, signal);
  return into;
}

test("a release is unpacked with its links and without its outer folder", async () => {
  const into = await unpack(
    tarOf([
      { path: "llama-b1/", type: "Directory" },
      { path: "llama-b1/llama-server", content: "program" },
      { path: "llama-b1/lib.so.0.1", content: "library" },
      { path: "llama-b1/lib.so", type: "SymbolicLink", linkpath: "lib.so.0.1" },
    ]),
  );
  expect((await readdir(into)).sort()).toEqual(["lib.so", "lib.so.0.1", "llama-server"]);
  expect(await readlink(join(into, "lib.so"))).toBe("lib.so.0.1");
  expect((await lstat(join(into, "llama-server"))).mode & 0o100).toBe(0o100);
});

test("a zip is unpacked as it is", async () => {
  const archive = zip([
    { name: "llama-server.exe", content: "program" },
    { name: "licenses/LICENSE", content: "text" },
  ]);
  const into = await unpack(archive, "a.zip", 0);
  expect(await readFile(join(into, "licenses", "LICENSE"), "utf8")).toBe("text");
});

test.each<[string, Entry[], RegExp]>([
  ["climbs out", [{ path: "a/../../escaped", content: "x" }], /leads out/],
  ["is absolute", [{ path: "/tmp/escaped-release", content: "x" }], /no path inside/],
  [
    "writes through a link to elsewhere",
    [
      { path: "a/up", type: "SymbolicLink", linkpath: ".." },
      { path: "a/up/escaped", content: "x" },
    ],
    /the link/,
  ],
  [
    "links to an absolute path",
    [{ path: "a/lib.so", type: "SymbolicLink", linkpath: "/etc/passwd" }],
    /the link/,
  ],
  ["has a hard link", [{ path: "a/lib.so", type: "Link", linkpath: "/etc/passwd" }], /is a Link/],
  ["has a device", [{ path: "a/null", type: "CharacterDevice" }], /is a CharacterDevice/],
  ["is larger than allowed", [{ path: "a/x", content: "x".repeat(200_000) }], /more than 100000/],
  ["says to be larger", [{ path: "a/x", content: "x", size: 1e12 }], /more than 100000/],
  [
    "has too many files",
    Array.from({ length: 60 }, (_, at) => ({ path: `a/${at}`, content: "x" })),
    /more than 50 files/,
  ],
  ["is empty", [], /cannot be used/],
])("a tar archive that %s is refused", async (_what, entries, why) => {
  await expect(unpack(tarOf(entries))).rejects.toThrow(why);
  await expect(lstat(join(folder, "escaped"))).rejects.toThrow();
  await expect(lstat("/tmp/escaped-release")).rejects.toThrow();
});

test("a cut archive is refused", async () => {
  const whole = tarOf([{ path: "a/x", content: "some content".repeat(500) }]);
  await expect(unpack(whole.subarray(0, whole.length - 20))).rejects.toThrow("cannot be used");
});

test.each<[string, Parameters<typeof zip>[0], RegExp]>([
  ["climbs out", [{ name: "../escaped", content: "x" }], /cannot be used/],
  ["climbs out by backslashes", [{ name: "..\\escaped", content: "x" }], /cannot be used/],
  ["holds a link", [{ name: "link", content: "/etc/passwd", mode: 0o120777 }], /is a link/],
  ["is larger than allowed", [{ name: "x", content: "x".repeat(200_000) }], /more than 100000/],
  [
    "says to be smaller than it is",
    [{ name: "x", content: "x".repeat(200_000), saidSize: 10 }],
    /cannot be used/,
  ],
  [
    "has a name twice",
    [
      { name: "x", content: "x" },
      { name: "x", content: "y" },
    ],
    /cannot be used/,
  ],
])("a zip that %s is refused", async (_what, entries, why) => {
  await mkdir(join(folder, "into"), { recursive: true });
  await expect(unpack(zip(entries), "a.zip", 0)).rejects.toThrow(why);
  await expect(lstat(join(folder, "escaped"))).rejects.toThrow();
});
