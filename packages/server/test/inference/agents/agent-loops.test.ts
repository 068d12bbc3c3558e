import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../../test-server.js";
import { LOOPS } from "./loops.js";
import { ORDER, TASK, Toolbox } from "./three-tools.js";

const call = (name: (typeof ORDER)[number], input: object) => ({
  name,
  arguments: JSON.stringify(input),
});

/** Text before a call, two calls beside each other, a call alone, and the last words. */
const TURNS = [
  { answer: "I look Ada up.", calls: [call("find_user", { name: "Ada" })] },
  {
    answer: "",
    calls: [call("get_balance", { number: 42 }), call("get_balance", { number: 43 })],
  },
  { answer: "", calls: [call("send_mail", { to: "Ada", text: "17 euros" })] },
  { answer: "Ada has her mail." },
];

/** The conversation as the engine must have got it in the end, ids of calls by the order of the calls. */
const TRANSCRIPT = [
  `user: ${TASK}`,
  'assistant: I look Ada up. call 0 find_user {"name":"Ada"}',
  "tool 0: Ada has the number 42.",
  'assistant: call 1 get_balance {"number":42} call 2 get_balance {"number":43}',
  "tool 1: The balance of 42 is 17 euros.",
  "tool 2: The balance of 43 is 17 euros.",
  'assistant: call 3 send_mail {"text":"17 euros","to":"Ada"}',
  "tool 3: It was sent.",
];

interface EngineMessage {
  role: string;
  content?: string | { text: string }[] | null;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

function transcriptOf(messages: readonly EngineMessage[]): string[] {
  const ids = messages.flatMap(({ tool_calls }) => (tool_calls ?? []).map(({ id }) => id));
  expect(new Set(ids).size).toBe(ids.length);
  return messages.map(({ role, content, tool_calls, tool_call_id }) => {
    const text = typeof content === "string" ? content : (content ?? []).map((p) => p.text).join();
    const calls = (tool_calls ?? []).map(
      ({ id, function: { name, arguments: input } }) =>
        `call ${ids.indexOf(id)} ${name} ${sorted(input)}`,
    );
    const who = tool_call_id === undefined ? role : `${role} ${ids.indexOf(tool_call_id)}`;
    return `${who}: ${[text.trim(), ...calls].filter((word) => word !== "").join(" ")}`;
  });
}

/** JSON of an object with its fields in alphabetical order: a client may write arguments anew. */
function sorted(json: string): string {
  const fields = Object.entries(JSON.parse(json) as object);
  return JSON.stringify(Object.fromEntries(fields.sort(([a], [b]) => (a < b ? -1 : 1))));
}

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    script: { templateCaps: { supports_tools: true }, turns: TURNS },
    template: "{% if tools %}{{ tools }}{% endif %}{{ messages }}",
  });
});
afterAll(() => server.dispose());

describe("an agent's loop of three tools", () => {
  it.each(LOOPS)("runs to its end: $name", async ({ run }) => {
    const before = (await server.engine.journal()).length;
    const toolbox = new Toolbox();
    const last = await run({ url: server.url, model: "tiny", fetch, toolbox });
    expect(last).toBe("Ada has her mail.");
    expect(toolbox.calls).toEqual(
      TURNS.flatMap(({ calls }) =>
        (calls ?? []).map((one) => [one.name, JSON.parse(one.arguments)]),
      ),
    );
    const requests = (await server.engine.journal())
      .slice(before)
      .filter(({ event }) => event === "request");
    expect(requests).toHaveLength(TURNS.length);
    const { messages, tools } = requests.at(-1)!.body as {
      messages: EngineMessage[];
      tools: { function: { name: string } }[];
    };
    expect(tools.map((tool) => tool.function.name)).toEqual(ORDER);
    expect(transcriptOf(messages)).toEqual(TRANSCRIPT);
  });
});
