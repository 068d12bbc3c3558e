import { describe, expect, it } from "vitest";
import { ANSWERS } from "./__fixtures__/answers.js";
import { each, joined, told } from "./__fixtures__/events.js";
import { cut, FORMATS, framed, outcome, taken } from "./__fixtures__/formats.js";

const rows = ANSWERS.flatMap((answer) =>
  FORMATS.flatMap((format) => {
    const wire = answer.wire[format.name];
    return wire ? [{ ...answer, format, wire, as: format.name, choices: answer.choices ?? 1 }] : [];
  }),
);

describe.each(rows)("$name as $as", ({ format, events, wire, choices }) => {
  it("has its events in order", async () => {
    const sent = await format.stream(each(events), choices);
    expect(sent.map((event) => format.outline(event))).toEqual(wire);
  });

  it("is read as it was written", async () => {
    const bytes = framed(await format.stream(each(events), choices));
    const read = await taken(format.readStream(cut(bytes)));
    expect(told(read)).toEqual(format.carried(events));
    expect(read[0]?.type).toBe("start");
  });

  it("is read the same wherever it was split, and with other ends of lines", async () => {
    const sent = await format.stream(each(events), choices);
    for (const newline of ["\n", "\r\n", "\r"]) {
      const bytes = framed(sent, newline);
      const whole = await taken(format.readStream(cut(bytes)));
      expect(told(whole)).toEqual(format.carried(events));
      const single = Array.from({ length: bytes.length }, (_, at) => at);
      expect(told(await taken(format.readStream(cut(bytes, ...single))))).toEqual(told(whole));
      for (let at = 1; at < bytes.length; at += 29) {
        const { events: read, error } = await outcome(format.readStream(cut(bytes, at)));
        expect(error).toBeNull();
        expect(read).toEqual(joined(whole));
      }
    }
  });

  it("is no answer where it was cut", async () => {
    const bytes = framed(await format.stream(each(events), choices));
    const whole = joined(await taken(format.readStream(cut(bytes))));
    for (let end = 0; end < bytes.length; end += 5) {
      const read = await outcome(format.readStream(cut(bytes.subarray(0, end)), { choices }));
      if (read.error === null) expect(read.events).toEqual(whole);
      else {
        expect(read.error).toMatchObject({ failure: { kind: "unreadable", retryable: true } });
        expect(read.events.some(({ type }) => type === "finish")).toBe(false);
      }
    }
  });

  it("is the same when it was not streamed", async () => {
    const body: unknown = JSON.parse(JSON.stringify(await format.whole(events, choices)));
    const byChoice = (all: ReturnType<typeof joined>) =>
      [...all].sort((a, b) => ("choice" in a ? a.choice : 0) - ("choice" in b ? b.choice : 0));
    const ends = new Set(["call", "finish", "usage"]);
    // A whole message does not tell in which order its text and its thoughts came.
    const inKinds = (all: ReturnType<typeof joined>) =>
      byChoice(all)
        .map((event) => JSON.stringify(event))
        .sort();
    const read = joined(format.readWhole(body));
    expect(inKinds(read)).toEqual(inKinds(joined(format.carried(events))));
    expect(read.filter(({ type }) => ends.has(type)).at(-1)?.type).toBe("usage");
  });
});
