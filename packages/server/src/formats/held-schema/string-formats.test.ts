import { isIPv4, isIPv6 } from "node:net";
import fc from "fast-check";
import { expect, it } from "vitest";
import { formatPattern, STRING_FORMATS } from "./string-formats.js";

const isDate = (text: string) => {
  const [year, month, day] = text.split("-").map(Number);
  const date = new Date(0);
  date.setUTCFullYear(year!, month! - 1, day!);
  return date.getUTCMonth() === month! - 1 && date.getUTCDate() === day;
};
const isTime = (text: string) => {
  const [, hour, minute, second] =
    /^(\d\d):(\d\d):(\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)$/.exec(text) ?? [];
  return Number(hour) < 24 && Number(minute) < 60 && Number(second) < 60;
};

const CHECKS: Record<keyof typeof STRING_FORMATS, (text: string) => boolean> = {
  date: isDate,
  time: isTime,
  "date-time": (text) => isDate(text.slice(0, 10)) && text[10] === "T" && isTime(text.slice(11)),
  duration: (text) =>
    /^P(?!$)((\d+Y)?(\d+M)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+S)?)?|(\d+W)?)$/.test(text),
  email: (text) =>
    /^[^@\s.]+(\.[^@\s.]+)*@[^@\s]+\.[A-Za-z]{2,}$/.test(text) &&
    URL.canParse(`x://${text.split("@")[1]}`),
  hostname: (text) => URL.canParse(`x://${text}/`) && !/(^|\.)-|-(\.|$)/.test(text),
  ipv4: isIPv4,
  ipv6: isIPv6,
  uri: (text) => URL.canParse(text) || /:\/\/[0-9.a-zA-Z-]+/.test(text),
  uuid: (text) => /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/.test(text),
  byte: (text) => Buffer.from(text, "base64").toString("base64").length === text.length,
};

it.each(Object.keys(STRING_FORMATS))("what the pattern of %s matches has that format", (format) => {
  fc.assert(
    fc.property(fc.stringMatching(new RegExp(`^(?:${STRING_FORMATS[format]})$`)), (text) => {
      expect(CHECKS[format]!(text), text).toBe(true);
    }),
    { numRuns: 400 },
  );
});

it("dates know the lengths of months, and leap years", () => {
  const date = new RegExp(`^(?:${STRING_FORMATS.date})$`);
  for (const good of ["2024-02-29", "2000-02-29", "2023-12-31"]) expect(date.test(good)).toBe(true);
  for (const bad of ["2023-02-29", "1900-02-29", "2024-04-31", "2024-13-01"]) {
    expect(date.test(bad)).toBe(false);
  }
});

it("a format without a form is passed over, an unknown one is told apart", () => {
  expect(formatPattern("password")).toBeNull();
  expect(formatPattern("banana")).toBeUndefined();
  expect(formatPattern("toString")).toBeUndefined();
});
