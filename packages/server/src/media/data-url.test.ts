import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { isDataUrl, readBase64, readDataUrl } from "./data-url.js";

const PARAM = "messages[0].content[1]";
const refused = { code: "invalid_request", param: PARAM };

it("gives the bytes and the declared type", () => {
  expect(readDataUrl("data:image/PNG;name=x;base64,aGV5", PARAM, 10)).toEqual({
    mediaType: "image/png",
    bytes: Buffer.from("hey"),
  });
  expect(readDataUrl("DATA:;base64,aGV5", PARAM, 10).mediaType).toBeNull();
});

it("takes both alphabets, with padding and without", () => {
  for (let length = 0; length < 20; length++) {
    const bytes = randomBytes(length);
    for (const encoding of ["base64", "base64url"] as const) {
      expect(readBase64(bytes.toString(encoding), PARAM, 100)).toEqual(bytes);
    }
    expect(readBase64(bytes.toString("base64").replace(/=/g, ""), PARAM, 100)).toEqual(bytes);
  }
});

it.each(["a", "aGV5a", "aG=5", "aG V5", "aGV5\n", "aGV5!", "===", "ä"])(
  "refuses what is not base64: %j",
  (text) => {
    expect(() => readBase64(text, PARAM, 100)).toThrow(expect.objectContaining(refused));
  },
);

it.each(["data:image/png,hey", "data:image/png;base64", "data:", "http://example.org/"])(
  "refuses %s",
  (url) => {
    expect(() => readDataUrl(url, PARAM, 100)).toThrow(expect.objectContaining(refused));
  },
);

it("refuses more than the limit, before it decodes", () => {
  expect(readBase64("A".repeat(136), PARAM, 102)).toHaveLength(102);
  expect(() => readBase64("A".repeat(140), PARAM, 102)).toThrow(/more than 102 bytes/);
});

it("tells a data: URL from others", () => {
  expect(["data:x", "DATA:x", "https://x", ""].map(isDataUrl)).toEqual([true, true, false, false]);
});
