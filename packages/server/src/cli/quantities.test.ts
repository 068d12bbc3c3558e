import { expect, test } from "vitest";
import { bytesText, countText, durationText, memorySize, memoryText } from "./quantities.js";

test.each([
  [0, "0 B"],
  [999, "999 B"],
  [999_600, "1.0 MB"],
  [491_400_064, "491 MB"],
  [1_340_000_000, "1.3 GB"],
])("%d bytes are %s", (bytes, text) => {
  expect(bytesText(bytes)).toBe(text);
});

test.each([
  [8 * 2 ** 20, "8 MiB"],
  [1.5 * 2 ** 30, "1.5 GiB"],
  [512, "512 B"],
])("%d bytes of memory are %s", (bytes, text) => {
  expect(memoryText(bytes)).toBe(text);
});

test.each([
  [0.2, "0.2 s"],
  [9.96, "10 s"],
  [59.7, "1 min"],
  [310, "5 min 10 s"],
  [7_500, "2 h 5 min"],
])("%d seconds are %s", (secs, text) => {
  expect(durationText(secs)).toBe(text);
});

test("one is counted in the singular", () => {
  expect(countText(1, "request")).toBe("1 request");
  expect(countText(2, "request")).toBe("2 requests");
});

test("a size is read in powers of 1024, or of 1000 where it says so", () => {
  const sizes = [
    "24GiB",
    "24g",
    "24GB",
    "512MiB",
    "1.5k",
    "1048576",
    "0",
    "1e3",
    "24 apples",
    "",
    "-1",
  ];
  expect(sizes.map(memorySize)).toEqual([
    ...[24 * 2 ** 30, 24 * 2 ** 30, 24e9, 2 ** 29, 1_536, 2 ** 20, 0],
    ...[null, null, null, null],
  ]);
});
