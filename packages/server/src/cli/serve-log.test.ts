import { expect, test } from "vitest";
import { Captured } from "./__fixtures__/cli.js";
import { Output } from "./output.js";
import { readableLine } from "./serve-log.js";

const plain = new Output(new Captured(), {});

test("a line of the log is readable: level, message, cause, details", () => {
  const entry = {
    level: 50,
    time: "now",
    msg: "startup failed",
    err: { message: "no disk" },
    phase: "engine",
  };
  expect(readableLine(JSON.stringify(entry), plain)).toBe(
    "error startup failed: no disk  phase=engine",
  );
});

test("what is no JSON stays as it is, without control characters", () => {
  expect(readableLine("oops \u001b[2J", plain)).toBe("oops [2J");
});

test("a long value is cut", () => {
  const line = readableLine(JSON.stringify({ level: 40, msg: "m", path: "x".repeat(999) }), plain);
  expect(line.length).toBeLessThan(300);
});
