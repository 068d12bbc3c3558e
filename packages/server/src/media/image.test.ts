import { crc32, deflateSync } from "node:zlib";
import fc from "fast-check";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { SomnusError } from "../http/errors.js";
import { readImage } from "./image.js";

const signal = new AbortController().signal;
const PARAM = "messages[2].content[1]";
const read = (bytes: Uint8Array) => readImage(bytes, PARAM, signal);

/** A picture of two halves: red on the left, blue on the right. */
function halves(width = 40, height = 20) {
  const red = { create: { width: width / 2, height, channels: 3, background: "red" } } as const;
  return sharp({ create: { width, height, channels: 3, background: "blue" } }).composite([
    { input: red, left: 0, top: 0 },
  ]);
}

async function pixel(png: Buffer, x: number, y: number): Promise<number[]> {
  const { data, info } = await sharp(png).raw().toBuffer({ resolveWithObject: true });
  const at = (y * info.width + x) * info.channels;
  return [...data.subarray(at, at + info.channels)];
}

async function refusal(bytes: Uint8Array): Promise<SomnusError> {
  const error = await read(bytes).then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(SomnusError);
  expect(error).toMatchObject({ code: "invalid_request", param: PARAM });
  return error as SomnusError;
}

it.each(["png", "jpeg", "webp", "gif", "avif"] as const)("%s is decoded", async (format) => {
  const { bytes, width, height } = await read(await halves().toFormat(format).toBuffer());
  expect({ width, height }).toEqual({ width: 40, height: 20 });
  expect(bytes.subarray(1, 4).toString()).toBe("PNG");
  const [red, , blue] = await pixel(bytes, 5, 10);
  expect(red).toBeGreaterThan(200);
  expect(blue).toBeLessThan(60);
  const [red2, , blue2] = await pixel(bytes, 35, 10);
  expect(red2).toBeLessThan(60);
  expect(blue2).toBeGreaterThan(200);
});

it("is turned as its EXIF data say, and carries none of them on", async () => {
  const turned = await halves()
    .jpeg({ quality: 100 })
    .withExif({ IFD0: { Copyright: "secret" } })
    .withMetadata({ orientation: 6 })
    .toBuffer();
  const { bytes, width, height } = await read(turned);
  expect({ width, height }).toEqual({ width: 20, height: 40 });
  // Turned by a quarter clockwise, left is up.
  expect((await pixel(bytes, 10, 5))[0]).toBeGreaterThan(200);
  expect((await pixel(bytes, 10, 35))[2]).toBeGreaterThan(200);
  expect(bytes.includes("secret")).toBe(false);
  expect((await sharp(bytes).metadata()).exif).toBeUndefined();
});

it("stands on white where it is transparent", async () => {
  const clear = await sharp({
    create: { width: 4, height: 4, channels: 4, background: { r: 0, g: 0, b: 0, alpha: 0 } },
  })
    .png()
    .toBuffer();
  expect(await pixel((await read(clear)).bytes, 1, 1)).toEqual([255, 255, 255]);
});

it("is the first frame of one that moves", async () => {
  const frames = await Promise.all(
    ["red", "blue"].map((background) =>
      sharp({ create: { width: 8, height: 8, channels: 3, background } })
        .png()
        .toBuffer(),
    ),
  );
  const gif = await sharp(frames, { join: { animated: true } })
    .gif()
    .toBuffer();
  expect((await sharp(gif).metadata()).pages).toBe(2);
  const { bytes, width, height } = await read(gif);
  expect({ width, height }).toEqual({ width: 8, height: 8 });
  expect((await pixel(bytes, 4, 4))[0]).toBeGreaterThan(200);
});

it("is made smaller than 2048 pixels a side, in its shape, and never larger", async () => {
  const wide = await halves(4_000, 1_000).png().toBuffer();
  expect(await read(wide)).toMatchObject({ width: 2_048, height: 512 });
  expect(await read(await halves(2, 2).png().toBuffer())).toMatchObject({ width: 2, height: 2 });
});

describe("refused", () => {
  it.each([
    ["SVG", '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'],
    ["PDF", "%PDF-1.7\n"],
    ["TIFF", "II*\0\u0008\0\0\0"],
    ["text", "no picture"],
    ["nothing", ""],
  ])("%s", async (_what, text) => {
    expect((await refusal(Buffer.from(text, "latin1"))).message).toContain("must be a PNG");
  });

  it.each(["png", "jpeg", "webp", "gif", "avif"] as const)("a cut %s", async (format) => {
    const noise = await sharp({
      create: {
        width: 64,
        height: 64,
        channels: 3,
        background: "white",
        noise: { type: "gaussian", mean: 128, sigma: 60 },
      },
    })
      .toFormat(format)
      .toBuffer();
    await refusal(noise.subarray(0, noise.length / 2));
  });

  it("one whose head promises 60,000 pixels a side", async () => {
    expect((await refusal(bomb(60_000, 60_000))).message).toContain("pixel limit");
  });

  it("one that is more than 200 times as long as it is wide", async () => {
    expect((await refusal(await halves(402, 2).png().toBuffer())).message).toContain("402 by 2");
    await read(await halves(400, 2).png().toBuffer());
  });

  it("one whose head does not fit its data", async () => {
    await refusal(bomb(1_000, 1_000));
  });
});

it("says why the request ended when that is what stopped it", async () => {
  const gone = new Error("gone");
  await expect(
    readImage(await halves().png().toBuffer(), PARAM, AbortSignal.abort(gone)),
  ).rejects.toBe(gone);
});

it("whatever is changed in a file, the answer is a picture or a refusal", async () => {
  const files = await Promise.all(
    (["png", "jpeg", "webp", "gif"] as const).map((format) => halves().toFormat(format).toBuffer()),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...files),
      fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 8 }),
      async (file, changes) => {
        const changed = Buffer.from(file);
        for (const [at, value] of changes) changed[at % changed.length] = value;
        const outcome = await read(changed).then(
          () => true,
          (error: unknown) => error instanceof SomnusError && error.code === "invalid_request",
        );
        expect(outcome).toBe(true);
      },
    ),
    { numRuns: 300 },
  );
});

/** A PNG of one row's data under a head of another size. */
function bomb(width: number, height: number): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from("89504e470d0a1a0a", "hex"),
    chunk("IHDR", head),
    chunk("IDAT", deflateSync(Buffer.alloc(100))),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}
