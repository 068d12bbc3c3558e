import { expect, test } from "vitest";
import { parseText } from "./parse-text.js";
import { schemaOf } from "./settings.js";

const parsed = (key: string, text: string) => parseText(schemaOf(key.split("."))!, text);

test.each(["true", "1", "yes", "on", "TRUE", "Yes"])("%s switches on", (text) => {
  expect(parsed("pool.autoload", text)).toBe(true);
});

test.each(["false", "0", "no", "off", "OFF"])("%s switches off", (text) => {
  expect(parsed("pool.autoload", text)).toBe(false);
});

test.each(["", "2", "y", "truee", " true"])("%j is no switch and stays text", (text) => {
  expect(parsed("pool.autoload", text)).toBe(text);
});

test.each([
  ["0", 0],
  ["1235", 1235],
  ["-1", -1],
  ["+7", 7],
])("%s is a whole number", (text, value) => {
  expect(parsed("server.port", text)).toBe(value);
});

test.each(["", " 1", "1 ", "1.0", "1e3", "0x10", "1_000", "١", "NaN", "9".repeat(17)])(
  "%j is no whole number and stays text",
  (text) => {
    expect(parsed("server.port", text)).toBe(text);
  },
);

test.each([
  ["0.5", 0.5],
  ["30", 30],
])("%s is a number", (text, value) => {
  expect(parsed("server.drain_secs", text)).toBe(value);
});

test.each(["Infinity", "1e5", ".5", "1."])("%j is no number and stays text", (text) => {
  expect(parsed("server.drain_secs", text)).toBe(text);
});

test("commas part the entries of a list", () => {
  expect(parsed("server.api_keys", "a, b,,c ,")).toEqual(["a", "b", "c"]);
  expect(parsed("server.host", "127.0.0.1")).toBe("127.0.0.1");
  expect(parsed("server.host", "127.0.0.1,::1")).toEqual(["127.0.0.1", "::1"]);
  expect(parsed("server.request_log_redact", "all")).toBe("all");
  expect(parsed("server.request_log_redact", "secret")).toEqual(["secret"]);
});
