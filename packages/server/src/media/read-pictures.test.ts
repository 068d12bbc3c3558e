import sharp from "sharp";
import { expect, it } from "vitest";
import { createPictureReader } from "./read-pictures.js";

const NEVER = new AbortController().signal;
const file = (background: string) =>
  sharp({ create: { width: 8, height: 8, channels: 3, background } })
    .png()
    .toBuffer();
const inline = async (background: string) => ({
  base64: (await file(background)).toString("base64"),
});
const reader = (
  fetch = async (): Promise<{ bytes: Buffer }> => Promise.reject(new Error("asked")),
) => createPictureReader({ maxBytes: 10_000, fetch });

it("gives the pictures in their order, and the same digest for the same picture", async () => {
  const sources = await Promise.all(["red", "blue", "red"].map(inline));
  const read = await reader()(
    sources.map((source, at) => ({ source, param: `p${at}` })),
    NEVER,
  );
  expect(read[0]!.digest).toBe(read[2]!.digest);
  expect(read[0]!.digest).not.toBe(read[1]!.digest);
  const { data } = await sharp(read[1]!.png).raw().toBuffer({ resolveWithObject: true });
  expect([...data.subarray(0, 3)]).toEqual([0, 0, 255]);
});

it("ends the fetching of others when one is refused", async () => {
  let stopped = false;
  const read = createPictureReader({
    maxBytes: 10_000,
    fetch: ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => {
          stopped = true;
          reject(signal.reason);
        });
      }),
  });
  const pictures = [
    { source: { url: "https://example.org/x.png" }, param: "p0" },
    { source: { base64: "%" }, param: "p1" },
  ];
  await expect(read(pictures, NEVER)).rejects.toMatchObject({
    code: "invalid_request",
    param: "p1",
  });
  expect(stopped).toBe(true);
});

it("refuses too many, naming the first that is", async () => {
  const source = await inline("red");
  const pictures = Array.from({ length: 65 }, (_, at) => ({ source, param: `p${at}` }));
  await expect(reader()(pictures, NEVER)).rejects.toMatchObject({ param: "p64" });
});

it("refuses more bytes than the limit", async () => {
  const read = createPictureReader({
    maxBytes: 10,
    fetch: async () => ({ bytes: Buffer.alloc(0) }),
  });
  await expect(read([{ source: await inline("red"), param: "p0" }], NEVER)).rejects.toMatchObject({
    code: "invalid_request",
    param: "p0",
  });
});
