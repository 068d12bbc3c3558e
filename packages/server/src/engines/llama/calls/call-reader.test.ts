import { describe, expect, it } from "vitest";
import type { FinishReason, GenerationEvent, ToolOffer } from "../../../formats/index.js";
import { CallReader } from "./call-reader.js";

const tool = (name: string) => ({ name, parameters: { type: "object" } });
const OFFER: ToolOffer = {
  tools: [tool("weather"), tool("add")],
  choice: "auto",
  parallel: true,
};
const REQUIRED: ToolOffer = { ...OFFER, choice: "required" };

/** What an answer comes to: its text, its calls as "name arguments", its finish. */
interface Answer {
  text: string;
  calls: string[];
  reason: FinishReason;
}

function answerOf(events: GenerationEvent[]): Answer {
  const answer: Answer = { text: "", calls: [], reason: "stop" };
  for (const event of events) {
    if (event.type === "text") answer.text += event.text;
    if (event.type === "call") answer.calls.push(`${event.call.name} ${event.call.arguments}`);
    if (event.type === "finish") answer.reason = event.reason;
  }
  return answer;
}

function read(pieces: string[], offer = OFFER, reason: FinishReason = "stop"): GenerationEvent[] {
  const reader = new CallReader(offer, 0);
  const events = pieces.flatMap((text) => reader.text({ type: "text", choice: 0, text }));
  return [...events, ...reader.finish(finish(reason))];
}

const finish = (reason: FinishReason, choice = 0) => ({ type: "finish" as const, choice, reason });

const PARIS = '{"name": "weather", "arguments": {"city": "Paris"}}';
const SUM = '{"name":"add","arguments":{"a":1,"b":[2,{"c":"}"}]}}';
const PARIS_CALL = 'weather {"city":"Paris"}';
const SUM_CALL = 'add {"a":1,"b":[2,{"c":"}"}]}';

const TEXTS: [string, string, Partial<Answer>][] = [
  ["a call in tags", `<tool_call>\n${PARIS}\n</tool_call>`, { calls: [PARIS_CALL] }],
  [
    "two calls in tags, with text before",
    `Let me see. <tool_call>${PARIS}</tool_call>\n<tool_call>${SUM}</tool_call>`,
    { text: "Let me see. \n", calls: [PARIS_CALL, SUM_CALL] },
  ],
  ["the tag of another family", `<tools>${SUM}</tools>`, { calls: [SUM_CALL] }],
  ["a tag that was not closed", `<tool_call>${PARIS}`, { calls: [PARIS_CALL] }],
  ["a fenced object", `\`\`\`json\n${PARIS}\n\`\`\``, { calls: [PARIS_CALL] }],
  ["a fence without a language", `\`\`\`\n${PARIS}\n\`\`\`\n`, { calls: [PARIS_CALL] }],
  [
    "two fences",
    `\`\`\`json\n${PARIS}\n\`\`\`\n\n\`\`\`json\n${SUM}\n\`\`\``,
    { calls: [PARIS_CALL, SUM_CALL] },
  ],
  ["a bare object", `\n${PARIS}`, { calls: [PARIS_CALL] }],
  ["a list", `[${PARIS}, ${SUM}]`, { calls: [PARIS_CALL, SUM_CALL] }],
  [
    "parameters for arguments",
    '{"name": "add", "parameters": {"a": 1}}',
    { calls: ['add {"a":1}'] },
  ],
  [
    "OpenAI's own form",
    '{"type":"function","function":{"name":"add","arguments":"{\\"a\\": 1}"}}',
    { calls: ['add {"a": 1}'] },
  ],
  ["no arguments", '{"name": "add"}', { calls: ["add {}"] }],
  [
    "a number of many digits",
    '{"name": "add", "arguments": {"a": 12345678901234567890, "b": 1.0}}',
    { calls: ['add {"a":12345678901234567890,"b":1.0}'] },
  ],
];

const NO_CALLS: [string, string][] = [
  ["words", "Hello, 1 < 2 and <b>that</b> is all."],
  ["a function that is not on offer", `<tool_call>{"name":"rm","arguments":{}}</tool_call>`],
  ["a fenced function that is not on offer", '```json\n{"name":"rm","arguments":{}}\n```'],
  ["JSON of another kind", '{"name": "Ada", "age": 36}'],
  ["a list of another kind", '[{"city": "Paris"}]'],
  ["code", '```python\nprint({"name": "add"})\n```'],
  ["a fence that text follows", `\`\`\`json\n${PARIS}\n\`\`\`\nwould be the call.`],
  ["a word after a call", `${PARIS} done`],
  ["arguments that are no object", '{"name": "add", "arguments": [1]}'],
  ["broken JSON in a tag", '<tool_call>{"name": "add",</tool_call> so'],
  ["half a tag", "a <tool_"],
  ["half an object", '{"name": "add", "arg'],
];

/** Every way to cut a text in two, all of its characters, and the whole. */
function* cuts(text: string): Generator<string[]> {
  yield [text];
  yield [...text];
  for (let at = 1; at < text.length; at++) yield [text.slice(0, at), text.slice(at)];
}

describe("calls in a text", () => {
  it.each(TEXTS)("are read: %s", (_, text, wanted) => {
    const answer: Answer = { text: "", calls: [], reason: "tool_calls", ...wanted };
    for (const pieces of cuts(text)) expect(answerOf(read(pieces))).toEqual(answer);
  });

  it.each(NO_CALLS)("are not made of: %s", (_, text) => {
    for (const pieces of cuts(text)) {
      expect(answerOf(read(pieces))).toEqual({ text, calls: [], reason: "stop" });
    }
  });

  it("hold back only what may become one", () => {
    const reader = new CallReader(OFFER, 0);
    const feed = (text: string) => reader.text({ type: "text", choice: 0, text });
    expect(feed("`")).toEqual([]);
    expect(feed("x` is ")).toHaveLength(2);
    expect(feed("it <")).toEqual([{ type: "text", choice: 0, text: "it " }]);
    expect(feed("b>")).toHaveLength(2);
  });

  it("give text with the log probabilities that came with it", () => {
    const logprobs = [{ token: "a <", logprob: -1, bytes: null, top_logprobs: [] }];
    const reader = new CallReader(OFFER, 0);
    const events = reader.text({ type: "text", choice: 0, text: "a <", logprobs });
    events.push(...reader.finish(finish("stop")));
    expect(events).toMatchObject([{ text: "a ", logprobs }, { text: "<" }, { type: "finish" }]);
  });

  it("have ids of their own", () => {
    const ids = [read([`[${PARIS},${SUM}]`]), read([PARIS])]
      .flat()
      .flatMap((event) => (event.type === "call" ? [event.call.id] : []));
    expect(new Set(ids).size).toBe(3);
    expect(ids[0]).toMatch(/^call_[0-9a-f]{16}_1$/);
    expect(ids[1]).toBe(ids[0]!.replace(/1$/, "2"));
  });

  it("are one at most when one was asked for", () => {
    const offer = { ...OFFER, parallel: false };
    expect(answerOf(read([`[${PARIS},${SUM}]`], offer)).calls).toEqual([PARIS_CALL]);
    const tags = `<tool_call>${PARIS}</tool_call><tool_call>${SUM}</tool_call>`;
    expect(answerOf(read([tags], offer)).calls).toEqual([PARIS_CALL]);
  });

  it.each([
    ["in a tag", '<tool_call>{"name": "add", "arguments": {"a'],
    ["in a fence", '```json\n{"name": "add", "arguments": {"a'],
  ])("that were cut half-way are left out: %s", (_, text) => {
    const answer = answerOf(read([text], OFFER, "length"));
    expect(answer).toEqual({ text: "", calls: [], reason: "length" });
  });

  it("are kept where only the second was cut", () => {
    const answer = answerOf(read([`[${PARIS}, {"name": "add", "ar`], OFFER, "length"));
    expect(answer).toEqual({ text: "", calls: [PARIS_CALL], reason: "length" });
  });
});

describe("an answer that has to be calls", () => {
  it("gives each call as soon as it is whole", () => {
    const reader = new CallReader(REQUIRED, 0);
    const feed = (text: string) => answerOf(reader.text({ type: "text", choice: 0, text })).calls;
    expect(feed(`[${PARIS.slice(0, -1)}`)).toEqual([]);
    expect(feed(`}, ${SUM.slice(0, -1)}`)).toEqual([PARIS_CALL]);
    expect(feed("}")).toEqual([SUM_CALL]);
    expect(answerOf(reader.finish(finish("stop"))).reason).toBe("tool_calls");
  });

  it("is tool_calls in the end, and length when it was cut", () => {
    expect(answerOf(read([PARIS], REQUIRED)).reason).toBe("tool_calls");
    expect(answerOf(read([PARIS.slice(0, -1)], REQUIRED, "length"))).toEqual({
      text: "",
      calls: [],
      reason: "length",
    });
  });

  it("may be text and the engine's own calls where its template takes no schema", () => {
    const reader = new CallReader(REQUIRED, 0);
    const events = reader.text({ type: "text", choice: 0, text: "I will. " });
    events.push(
      ...reader.fragments([{ index: 0, function: { name: "add", arguments: '{"a":1}' } }]),
    );
    events.push(...reader.finish(finish("tool_calls")));
    expect(answerOf(events)).toEqual({
      text: "I will. ",
      calls: ['add {"a":1}'],
      reason: "tool_calls",
    });
  });

  it("is an error when no call came", () => {
    expect(() => read(["No."], REQUIRED)).toThrow("did not call");
  });
});

describe("the engine's own calls", () => {
  const fragment = (index: number, args: string, name?: string) => ({
    index,
    function: { ...(name === undefined ? {} : { name }), arguments: args },
  });

  it("are joined, and given whole when the next begins and at the end", () => {
    const reader = new CallReader(OFFER, 1);
    expect(reader.text({ type: "text", choice: 1, text: "So: " })).toHaveLength(1);
    expect(reader.fragments([fragment(0, "", "weather")])).toEqual([]);
    expect(reader.fragments([fragment(0, '{"city":')])).toEqual([]);
    expect(reader.fragments([fragment(0, '"Paris"}'), fragment(1, "", "add")])).toMatchObject([
      { type: "call", choice: 1, call: { name: "weather", arguments: '{"city":"Paris"}' } },
    ]);
    expect(reader.finish(finish("tool_calls", 1))).toMatchObject([
      { type: "call", call: { name: "add", arguments: "{}" } },
      { type: "finish", choice: 1, reason: "tool_calls" },
    ]);
  });

  it("are left out when they were cut half-way", () => {
    const reader = new CallReader(OFFER, 0);
    reader.fragments([fragment(0, '{"city":"Par', "weather")]);
    expect(reader.finish(finish("length"))).toEqual([
      { type: "finish", choice: 0, reason: "length" },
    ]);
  });

  it("end as what they were when their arguments do not parse", () => {
    const reader = new CallReader(OFFER, 0);
    reader.fragments([fragment(0, '{"city":', "weather")]);
    expect(reader.finish(finish("tool_calls"))).toEqual([
      { type: "finish", choice: 0, reason: "stop" },
    ]);
  });
});
