import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { createMediaReader, type PictureSource } from "./read-media.js";
import { wavFile } from "./sound/__fixtures__/wav-file.js";

const NEVER = new AbortController().signal;
const file = (background: string) =>
  sharp({ create: { width: 8, height: 8, channels: 3, background } })
    .png()
    .toBuffer();
const inline = async (background: string) => ({
  base64: (await file(background)).toString("base64"),
});
const picture = (source: PictureSource["source"], param: string): PictureSource => ({
  type: "picture",
  source,
  param,
});
const reader = (
  fetch = async (): Promise<{ bytes: Buffer }> => Promise.reject(new Error("asked")),
) => createMediaReader({ maxImageBytes: 10_000, maxAudioBytes: 100_000, fetch });

it("gives the pictures in their order, and the same digest for the same picture", async () => {
  const sources = await Promise.all(["red", "blue", "red"].map(inline));
  const read = await reader()(
    sources.map((source, at) => picture(source, `p${at}`)),
    NEVER,
  );
  expect(read[0]!.digest).toBe(read[2]!.digest);
  expect(read[0]!.digest).not.toBe(read[1]!.digest);
  const [, blue] = read;
  if (blue?.type !== "picture") throw new Error("it is no picture");
  const { data } = await sharp(blue.png).raw().toBuffer({ resolveWithObject: true });
  expect([...data.subarray(0, 3)]).toEqual([0, 0, 255]);
});

it("ends the fetching of others when one is refused", async () => {
  let stopped = false;
  const read = createMediaReader({
    maxImageBytes: 10_000,
    maxAudioBytes: 10_000,
    fetch: ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => {
          stopped = true;
          reject(signal.reason);
        });
      }),
  });
  const pictures = [
    picture({ url: "https://example.org/x.png" }, "p0"),
    picture({ base64: "%" }, "p1"),
  ];
  await expect(read(pictures, NEVER)).rejects.toMatchObject({
    code: "invalid_request",
    param: "p1",
  });
  expect(stopped).toBe(true);
});

it("refuses too many, naming the first that is", async () => {
  const source = await inline("red");
  const pictures = Array.from({ length: 65 }, (_, at) => picture(source, `p${at}`));
  await expect(reader()(pictures, NEVER)).rejects.toMatchObject({ param: "p64" });
});

it("refuses more bytes than the limit", async () => {
  const read = createMediaReader({
    maxImageBytes: 10,
    maxAudioBytes: 10,
    fetch: async () => ({ bytes: Buffer.alloc(0) }),
  });
  await expect(read([picture(await inline("red"), "p0")], NEVER)).rejects.toMatchObject({
    code: "invalid_request",
    param: "p0",
  });
});

describe("a sound", () => {
  const tone = wavFile(
    Array.from({ length: 8_000 }, (_, at) => Math.sin(at / 5)),
    { rate: 8_000 },
  );
  const sound = (data: string, format: string | null = null) =>
    ({ type: "sound", data, format, param: "p0" }) as const;

  it("is read from base64 and from a data: URL, in its place among pictures", async () => {
    const base64 = tone.toString("base64");
    const read = await reader()(
      [
        sound(base64, "wav"),
        picture(await inline("red"), "p1"),
        sound(`data:audio/wav;base64,${base64}`),
      ],
      NEVER,
    );
    expect(read.map(({ type }) => type)).toEqual(["sound", "picture", "sound"]);
    expect(read[0]!.digest).toBe(read[2]!.digest);
  });

  it.each([
    ["no base64", sound("%%%")],
    ["more bytes than the limit", sound(Buffer.alloc(100_001).toString("base64"))],
    ["another format than it says", sound(tone.toString("base64"), "mp3")],
    ["nothing", sound("")],
  ])("that is %s is refused by its part", async (_what, source) => {
    await expect(reader()([source], NEVER)).rejects.toMatchObject({
      code: "invalid_request",
      param: "p0",
    });
  });
});
