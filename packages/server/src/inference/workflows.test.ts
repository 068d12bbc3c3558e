import { describe, expect, it } from "vitest";
import { readWorkflow, Workflows } from "./workflows.js";

/** A clock that is set by hand, and workflows on it. */
function clocked() {
  const clock = { now: 0 };
  return { clock, workflows: new Workflows(() => clock.now) };
}
const mark = (name: string, id = "1") => ({ name, id });

describe("workflows", () => {
  it("last from the first start to the last byte of the one that ends them", () => {
    const { clock, workflows } = clocked();
    const first = workflows.begin(mark("voice"), "", 0);
    clock.now = 100;
    first(false);
    clock.now = 5_000;
    const last = workflows.begin(mark("voice"), "", 5_000);
    expect(workflows.durations()).toEqual({});
    clock.now = 9_500;
    last(true);
    expect(workflows.durations()).toEqual({
      voice: { count: 1, p50: 10_000, p95: 10_000, p99: 10_000 },
    });
  });

  it("end with the last answer when several run", () => {
    const { clock, workflows } = clocked();
    const [one, two] = [workflows.begin(mark("w"), "", 0), workflows.begin(mark("w"), "", 0)];
    clock.now = 10;
    one(true);
    expect(workflows.durations()).toEqual({});
    clock.now = 140;
    two(false);
    expect(workflows.durations().w).toMatchObject({ count: 1, p50: 150 });
  });

  it("end 30 s after their last answer, which is when they ended, and not while one runs", () => {
    const { clock, workflows } = clocked();
    const end = workflows.begin(mark("w"), "", 0);
    clock.now = 60_000;
    expect(workflows.durations()).toEqual({});
    end(false);
    clock.now = 89_999;
    expect(workflows.durations()).toEqual({});
    clock.now = 90_000;
    expect(workflows.durations().w).toMatchObject({ count: 1, p50: 60_000 });
  });

  it("are told apart by their id and by whose they are", () => {
    const { workflows } = clocked();
    const ends = [
      workflows.begin(mark("w", "1"), "ann", 0),
      workflows.begin(mark("w", "2"), "ann", 0),
      workflows.begin(mark("w", "1"), "bob", 0),
    ];
    for (const end of ends) end(true);
    expect(workflows.durations().w?.count).toBe(3);
  });

  it("take bounded memory, whatever is sent", () => {
    const { workflows } = clocked();
    for (let i = 0; i < 5_000; i++) workflows.begin(mark(`name-${i}`, `${i}`), "", 0)(i % 2 === 0);
    expect(Object.keys(workflows.durations()).length).toBeLessThanOrEqual(65);
    const held = Array.from({ length: 3_000 }, (_, i) => workflows.begin(mark("w", `${i}`), "", 0));
    for (const end of held) end(true);
    expect(workflows.durations().other!.count).toBeLessThanOrEqual(2_436 + 1_024);
  });

  it.each([
    "",
    "voice",
    "/1",
    "voice/",
    "a b/1",
    "voice/a b",
    `${"x".repeat(65)}/1`,
    `v/${"x".repeat(129)}`,
    "v\u00e9/1",
  ])("%j names none", (header) => {
    expect(readWorkflow(header)).toBeNull();
  });

  it("have an id that may contain slashes", () => {
    expect(readWorkflow("voice/a/b")).toEqual({ name: "voice", id: "a/b" });
  });
});
