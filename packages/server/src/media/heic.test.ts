import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import sharp from "sharp";
import { expect, it } from "vitest";
import { compiledRooms } from "../../test/other-process/index.js";

/** The decoder's thread cannot be started from TypeScript. */
const compiled = compiledRooms(["media/index.ts", "media/heic-worker.ts"], "sharp");
const room = (): Promise<typeof import("./index.js")> =>
  import(/* @vite-ignore */ pathToFileURL(join(compiled(), "media/index.js")).href);
const signal = new AbortController().signal;
const HEIC = await readFile(new URL("./__fixtures__/red-blue.heic", import.meta.url));

it("is decoded: its left half is red, its right half blue", async () => {
  const { readImage } = await room();
  const { bytes, width, height } = await readImage(HEIC, "image", signal);
  expect({ width, height }).toEqual({ width: 64, height: 32 });
  const pixels = await sharp(bytes).raw().toBuffer();
  const at = (x: number) => [...pixels.subarray(x * 3, x * 3 + 3)];
  expect(at(8)[0]).toBeGreaterThan(220);
  expect(at(8)[2]).toBeLessThan(40);
  expect(at(56)[0]).toBeLessThan(40);
  expect(at(56)[2]).toBeGreaterThan(220);
});

it("that is cut, or nothing but a head, is refused", async () => {
  const { readImage } = await room();
  for (const length of [32, 300, HEIC.length - 40]) {
    await expect(readImage(HEIC.subarray(0, length), "image", signal)).rejects.toMatchObject({
      code: "invalid_request",
      param: "image",
    });
  }
});

it("is not decoded for nobody", async () => {
  const { readImage } = await room();
  const gone = new Error("gone");
  await expect(readImage(HEIC, "image", AbortSignal.abort(gone))).rejects.toBe(gone);
});
