import { describe, expect, it } from "vitest";
import { withAnswer } from "../state/outline.js";
import type { SlotState } from "../state/state.js";
import { chooseSlot } from "./slot-choice.js";

const system = `system\n${"You are a helpful assistant. ".repeat(20)}`;
const slot = (
  outline: SlotState["outline"],
  usedAt = 0,
  request: number | null = null,
): SlotState => ({
  request,
  outline,
  tokens: 1,
  usedAt,
});
const chat = (...messages: string[]) => ["plain", system, ...messages];

describe("slot choice", () => {
  it("returns to the slot that holds the conversation", () => {
    const first = withAnswer(chat("user\nHello"), "Hi!");
    const slots = [slot(null), slot(withAnswer(chat("user\nOther"), "Yes")), slot(first)];
    expect(chooseSlot(slots, [...first, "user\nAnd then?"], 10)).toBe(2);
  });

  it("gives chats with one system prompt slots of their own", () => {
    const slots = [slot(withAnswer(chat("user\nFirst topic, a long one"), "Answer")), slot(null)];
    expect(chooseSlot(slots, chat("user\nSecond topic"), 10)).toBe(1);
  });

  it("stays in the slot when an answer is asked for again", () => {
    const slots = [
      slot(null),
      slot(withAnswer(chat("user\nTell me a joke"), "A long joke. ".repeat(100))),
    ];
    expect(chooseSlot(slots, chat("user\nTell me a joke"), 10)).toBe(1);
  });

  it("takes the slot whose loss costs least when all are used", () => {
    const long = withAnswer(chat("user\nA"), "word ".repeat(2_000));
    const short = withAnswer(chat("user\nB"), "word");
    expect(chooseSlot([slot(long), slot(short)], chat("user\nC"), 10)).toBe(1);
  });

  it("prefers to lose what has not been used for long", () => {
    const old = withAnswer(chat("user\nA"), "word ".repeat(1_000));
    const fresh = withAnswer(chat("user\nB"), "word ".repeat(900));
    expect(chooseSlot([slot(old, 0), slot(fresh, 3_600_000)], chat("user\nC"), 3_600_000)).toBe(0);
  });

  it("never takes a busy slot", () => {
    expect(chooseSlot([slot(null, 0, 7)], chat("user\nA"), 0)).toBe(-1);
  });
});
