import { describe, expect, it } from "vitest";
import type { AskedGeneration } from "../generation.js";
import { asked, type Message } from "./__fixtures__/conversations.js";
import { FORMATS, type Format } from "./__fixtures__/formats.js";
import { comparable } from "./__fixtures__/normal-requests.js";

const say = (role: Message["role"], ...texts: string[]): Message => ({
  role,
  parts: texts.map((text) => ({ type: "text", text })),
});
const calls = (...ids: string[]): Message["calls"] & object =>
  ids.map((id) => ({ id, name: "add", arguments: '{"a":1}' }));
const result = (callId: string, ...texts: string[]): Message => ({
  ...say("tool", ...texts),
  result: { callId, name: "add" },
});
const user = say("user", "Hi");

const TOOL = {
  name: "add",
  description: "Adds.",
  parameters: { type: "object", properties: { b: {}, a: { type: "integer" } }, required: ["a"] },
};

/** A request; what is read of it where that is not the same; where nothing of it may be missing. */
interface Row {
  name: string;
  request: AskedGeneration;
  read?: Partial<Record<Format["name"], Message[]>>;
  drops?: Partial<Record<Format["name"], string[]>>;
}

const ROWS: Row[] = [
  { name: "a question", request: asked([user]) },
  { name: "a system text", request: asked([say("system", "Be terse."), user]) },
  { name: "two parts of a system text", request: asked([say("system", "One.", "Two."), user]) },
  {
    name: "two system texts",
    request: asked([say("system", "One."), say("system", "Two."), user]),
    read: { anthropic: [say("system", "One.", "Two."), user] },
  },
  {
    name: "a system text in the middle",
    request: asked([user, say("assistant", "Yes?"), say("system", "Be terse."), user]),
  },
  {
    name: "an empty system text",
    request: asked([say("system", ""), user]),
    read: { anthropic: [user] },
  },
  {
    name: "texts without a visible character",
    request: asked([say("user", "\n", "Hi", " ", "there")]),
    read: { anthropic: [say("user", "\nHi ", "there")] },
  },
  {
    name: "an answer with nothing in it",
    request: asked([user, say("assistant"), user]),
    read: {
      "openai-chat": [user, say("assistant", ""), user],
      "openai-responses": [user, say("assistant", ""), user],
      anthropic: [say("user", "Hi", "Hi")],
    },
  },
  {
    name: "a call without a text, and its result",
    request: asked([user, { ...say("assistant"), calls: calls("c1") }, result("c1", "2")]),
  },
  {
    name: "parallel calls with a text, their results in order, and words after them",
    request: asked([
      user,
      { ...say("assistant", "Both."), calls: calls("c1", "c2", "c3") },
      result("c1", "2"),
      result("c2", "3", "4"),
      result("c3"),
      say("user", "Well?"),
    ]),
    read: {
      "openai-chat": [
        user,
        { ...say("assistant", "Both."), calls: calls("c1", "c2", "c3") },
        result("c1", "2"),
        result("c2", "3", "4"),
        result("c3", ""),
        say("user", "Well?"),
      ],
      "openai-responses": [
        user,
        { ...say("assistant", "Both."), calls: calls("c1", "c2", "c3") },
        result("c1", "2"),
        result("c2", "3", "4"),
        result("c3", ""),
        say("user", "Well?"),
      ],
    },
  },
  {
    name: "ids of calls that other vendors make",
    request: asked([
      user,
      { ...say("assistant"), calls: calls("functions.add:0", "functions_add:0") },
      result("functions.add:0", "2"),
      result("functions_add:0", "3"),
    ]),
    read: {
      anthropic: [
        user,
        { ...say("assistant"), calls: calls("call_functions_add_0", "call_functions_add_0_2") },
        result("call_functions_add_0", "2"),
        result("call_functions_add_0_2", "3"),
      ],
    },
  },
  {
    name: "a begun answer",
    request: asked([user, say("assistant", "The answer is")]),
  },
  {
    name: "functions with a free choice",
    request: asked([user], { offer: { tools: [TOOL], choice: "auto", parallel: true } }),
  },
  {
    name: "functions, one call at a time",
    request: asked([user], { offer: { tools: [TOOL], choice: "auto", parallel: false } }),
  },
  {
    name: "a function that must be called",
    request: asked([user], { offer: { tools: [TOOL], choice: { name: "add" }, parallel: true } }),
  },
  {
    name: "thoughts beside a call that must be made",
    request: asked([user], {
      think: true,
      offer: { tools: [TOOL], choice: "required", parallel: true },
    }),
    drops: { anthropic: ["think"] },
  },
  {
    name: "thoughts in a turn of calls",
    request: asked([user, { ...say("assistant"), calls: calls("c1") }, result("c1", "2")], {
      think: true,
      thinkBudgetTokens: 2048,
    }),
    drops: { anthropic: ["think"] },
  },
  {
    name: "a budget that is no level's",
    request: asked([user], { think: true, thinkBudgetTokens: 1000 }),
    drops: {
      "openai-chat": ["thinkBudgetTokens"],
      anthropic: ["thinkBudgetTokens"],
      "openai-responses": ["thinkBudgetTokens"],
    },
  },
  {
    name: "a form for the answer",
    request: asked([user], {
      json: {
        schema: {
          type: "object",
          properties: { a: { type: "integer" } },
          required: ["a"],
          additionalProperties: false,
        },
      },
    }),
  },
  {
    name: "a form that cannot be a strict one",
    request: asked([user], { json: { schema: { type: "object", properties: { a: {} } } } }),
    drops: { "openai-chat": ["json"], "openai-responses": ["json"] },
  },
  {
    name: "any object",
    request: asked([user], { json: {} }),
    drops: { anthropic: ["json"] },
  },
  {
    name: "stops",
    request: asked([user], { stop: ["END", "\n"] }),
    drops: { anthropic: ["stop"], "openai-responses": ["stop"] },
  },
  {
    name: "alternatives with log probabilities",
    request: asked([user], { choices: 2, topLogprobs: 3 }),
    drops: { anthropic: ["choices", "topLogprobs"], "openai-responses": ["choices"] },
  },
  {
    name: "a hot sampling",
    request: asked([user], { sampling: { temperature: 1.5, topK: 40, seed: 7 } }),
    drops: { anthropic: ["temperature", "seed"], "openai-responses": ["topK", "seed"] },
  },
];

const rows = ROWS.flatMap((row) => FORMATS.map((format) => ({ ...row, format, as: format.name })));

describe.each(rows)("$name as $as", ({ format, request, read, drops }) => {
  it("is read as it was written", () => {
    const { body, dropped } = format.write(request);
    const back = comparable(format.read(body));
    expect(back.messages).toEqual(read?.[format.name] ?? request.messages);
    expect([...dropped].sort()).toEqual([...(drops?.[format.name] ?? [])].sort());
    const { messages: _, ...how } = back;
    const { messages: __, ...normal } = format.normal(request);
    if (dropped.length === 0) expect(how).toEqual(normal);
  });
});
