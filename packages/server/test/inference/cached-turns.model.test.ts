import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startRealServer } from "../test-server.js";

let server: Awaited<ReturnType<typeof startRealServer>>;
beforeAll(async () => {
  server = await startRealServer({
    toml: `
config_version = 1
[[models]]
id = "qwen2.5-coder:0.5b"
context_len = 8192
slots = 4
[hardware]
kv_park = false
`,
  });
});
afterAll(() => server.dispose());

const model = "qwen2.5-coder:0.5b";
const SYSTEM = `You are terse.\n\n  Rules:\n- one sentence\n- no lists\n\n${"Stay calm. ".repeat(40)}`;
const SCHEMA = {
  type: "object",
  properties: {
    unit: { type: "string", enum: ["C", "F"] },
    city: { type: "string", maxLength: 20 },
  },
  required: ["unit", "city"],
  additionalProperties: false,
};
const TOOL = { name: "get_weather", description: "Tells the weather of a city." };
const RESULT = '{"temperature": 21, "sky": "clear"}';

/** Of one answer: tokens of its prompt, those that came from the cache, and its own. */
interface Told {
  prompt: number;
  cached: number;
  completion: number;
  calls: string[];
}

/** A conversation, its history kept in the form of its dialect as a client keeps it. */
interface Talk {
  say(text: string): void;
  result(callId: string, text: string): void;
  answer(mustCall?: boolean): Promise<Told>;
}

interface Wire {
  choices: { message: { tool_calls?: { id: string }[] } }[];
  content: { type: string; id: string }[];
  output: { type: string; call_id: string }[];
  id: string;
  usage: Record<string, number> & {
    prompt_tokens_details?: { cached_tokens: number };
    input_tokens_details?: { cached_tokens: number };
  };
}

async function post(path: string, body: object): Promise<Wire> {
  const response = await fetch(`${server.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model, temperature: 0, ...body }),
  });
  const answer: unknown = await response.json();
  expect(answer).toHaveProperty("usage");
  return answer as Wire;
}

function chat(): Talk {
  const messages: object[] = [{ role: "system", content: SYSTEM }];
  return {
    say: (text) => messages.push({ role: "user", content: text }),
    result: (id, text) => messages.push({ role: "tool", tool_call_id: id, content: text }),
    async answer(mustCall) {
      const { choices, usage } = await post("/v1/chat/completions", {
        messages,
        max_tokens: 40,
        tools: [{ type: "function", function: { ...TOOL, parameters: SCHEMA } }],
        tool_choice: mustCall ? "required" : "auto",
      });
      const { message } = choices[0]!;
      messages.push(message);
      return {
        prompt: usage.prompt_tokens!,
        cached: usage.prompt_tokens_details?.cached_tokens ?? 0,
        completion: usage.completion_tokens!,
        calls: (message.tool_calls ?? []).map(({ id }) => id),
      };
    },
  };
}

function messagesApi(): Talk {
  const messages: { role: string; content: object[] }[] = [];
  const add = (block: object) => {
    const last = messages.at(-1);
    if (last?.role === "user") last.content.push(block);
    else messages.push({ role: "user", content: [block] });
  };
  return {
    say: (text) => add({ type: "text", text }),
    result: (id, text) => add({ type: "tool_result", tool_use_id: id, content: text }),
    async answer(mustCall) {
      const { content, usage } = await post("/v1/messages", {
        system: [{ type: "text", text: SYSTEM }],
        messages,
        max_tokens: 40,
        tools: [{ ...TOOL, input_schema: SCHEMA }],
        tool_choice: { type: mustCall ? "any" : "auto" },
      });
      messages.push({ role: "assistant", content });
      return {
        prompt: usage.input_tokens! + usage.cache_read_input_tokens!,
        cached: usage.cache_read_input_tokens!,
        completion: usage.output_tokens!,
        calls: content.flatMap(({ type, id }) => (type === "tool_use" ? [id] : [])),
      };
    },
  };
}

function responsesApi(stored: boolean): Talk {
  const items: object[] = [];
  let sent = 0;
  let previous: string | null = null;
  return {
    say: (text) => items.push({ role: "user", content: text }),
    result: (id, text) => items.push({ type: "function_call_output", call_id: id, output: text }),
    async answer(mustCall) {
      const { id, output, usage } = await post("/v1/responses", {
        instructions: SYSTEM,
        input: stored ? items.slice(sent) : items,
        previous_response_id: previous,
        store: stored,
        max_output_tokens: 40,
        tools: [{ type: "function", ...TOOL, parameters: SCHEMA, strict: true }],
        tool_choice: mustCall ? "required" : "auto",
      });
      if (stored) previous = id;
      items.push(...output);
      sent = items.length;
      return {
        prompt: usage.input_tokens!,
        cached: usage.input_tokens_details!.cached_tokens,
        completion: usage.output_tokens!,
        calls: output.flatMap((item) => (item.type === "function_call" ? [item.call_id] : [])),
      };
    },
  };
}

const TALKS: [string, () => Talk][] = [
  ["chat completions", chat],
  ["the Messages API", messagesApi],
  ["the Responses API", () => responsesApi(false)],
  ["the Responses API, stored", () => responsesApi(true)],
];

/** Marks of the template around an answer; where they begin is not the same for the model and the template. */
const MARKS = 8;

describe.each(TALKS)("a conversation by %s", (name, open) => {
  it("computes in its second turn what is new, and no more", async () => {
    const talk = open();
    talk.say(`${name}: say how you are, in one sentence.`);
    const first = await talk.answer();
    for (const id of first.calls) talk.result(id, RESULT);
    if (first.calls.length === 0) talk.say("And why is that?");
    const second = await talk.answer();
    expect(second.cached).toBeGreaterThanOrEqual(first.prompt + first.completion - MARKS);
  });

  it("computes after a call no more than the call and what is new", async () => {
    const talk = open();
    talk.say(`${name}: what is the weather in Paris?`);
    const first = await talk.answer(true);
    expect(first.calls).toHaveLength(1);
    talk.result(first.calls[0]!, RESULT);
    const second = await talk.answer();
    expect(second.cached).toBeGreaterThanOrEqual(first.prompt - 1);
    talk.say("Thanks. What else?");
    const third = await talk.answer();
    expect(third.cached).toBeGreaterThanOrEqual(second.prompt + second.completion - MARKS);
  });
});

/** Old conversations compete for the slots; a new engine has none. */
async function forgetConversations(): Promise<void> {
  const response = await fetch(`${server.url}/v1/memory/tier`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model, target_tier: "tier3_nvme_ssd" }),
  });
  expect(response.status).toBe(200);
  await response.text();
}

it("three conversations that take turns keep theirs", async () => {
  await forgetConversations();
  const talks = [1, 2, 3].map((number) => {
    const talk = chat();
    talk.say(`Talk ${number}: ${"word ".repeat(10 * number)}. Say how you are.`);
    return { talk, last: null as Told | null };
  });
  for (let turn = 0; turn < 3; turn++) {
    for (const one of talks) {
      const told = await one.talk.answer();
      if (one.last) {
        const { prompt, completion, calls } = one.last;
        // A call stands in the history as the template writes it, not as the model did.
        const kept = calls.length > 0 ? 0 : completion;
        expect(told.cached).toBeGreaterThanOrEqual(prompt + kept - MARKS);
      }
      one.last = told;
      for (const id of told.calls) one.talk.result(id, RESULT);
      if (told.calls.length === 0) one.talk.say(`And then? (${turn})`);
    }
  }
});
