import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../../test-server.js";

/** Requests as agents sent them, their texts and most of their tools cut away. */
interface Recorded {
  client: string;
  headers: Record<string, string>;
  requests: Record<string, { path: string; body: Record<string, unknown> }>;
}

async function recorded(file: string): Promise<Recorded> {
  return JSON.parse(await readFile(new URL(file, import.meta.url), "utf8"));
}

const codex = await recorded("./codex.json");
const claudeCode = await recorded("./claude-code.json");

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    script: {
      templateCaps: { supports_tools: true },
      answer: "There is one file.",
    },
    template: "{% if tools %}{{ tools }}{% endif %}{{ messages }}",
    toml: `
config_version = 1
[[models]]
id = "tiny"
weights_path = "tiny.gguf"
[aliases]
"gpt-*" = "tiny"
"codex-*" = "tiny"
"claude-*" = "tiny"
`,
  });
});
afterAll(() => server.dispose());

async function replay({ headers, requests }: Recorded, name: string, fields = {}) {
  const { path, body } = requests[name]!;
  const before = (await server.engine.journal()).length;
  const response = await server.post(path, { ...body, ...fields }, { headers });
  const text = await response.text();
  const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!));
  const journal = (await server.engine.journal()).slice(before);
  const sent = journal.findLast(({ event }) => event === "request")?.body ?? {};
  return { response, text, events, sent: sent as unknown as EngineBody };
}

interface EngineBody {
  messages: { role: string; content: unknown; tool_calls?: unknown[]; tool_call_id?: string }[];
  tools?: { function: { name: string } }[];
}

const rolesOf = ({ messages }: EngineBody) => messages.map(({ role }) => role);
const toolsOf = ({ tools }: EngineBody) => (tools ?? []).map((tool) => tool.function.name);

describe(`requests of ${codex.client}`, () => {
  it.each(Object.keys(codex.requests))(
    "are answered by the model of the alias: %s",
    async (name) => {
      const { response, text, events } = await replay(codex, name);
      expect(response.status, text).toBe(200);
      expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, i) => i));
      expect(events.at(-1)).toMatchObject({
        type: "response.completed",
        response: {
          model: "tiny",
          store: false,
          output: [{ content: [{ text: "There is one file." }] }],
          usage: { total_tokens: expect.any(Number) },
        },
      });
    },
  );

  it("of a later turn have both results in the prompt and no thoughts", async () => {
    const { sent, response } = await replay(codex, "a later turn");
    expect(rolesOf(sent)).toEqual([
      ...["system", "system", "user", "user", "assistant", "tool", "tool"],
    ]);
    expect(sent.messages[4]!.tool_calls).toHaveLength(2);
    expect(JSON.stringify(sent.messages)).not.toContain("I should look.");
    expect(toolsOf(sent)).toContain("exec_command");
    expect(response.headers.get("x-somnus-skipped-tools")).toContain("web_search");
  });

  it("with tools that are no functions are answered without those", async () => {
    const { sent, response } = await replay(codex, "a turn with a model that it knows");
    expect(response.headers.get("x-somnus-skipped-tools")).toBe("custom, tool_search, web_search");
    expect(toolsOf(sent)).toEqual(["exec_command"]);
  });

  it("with tools of MCP servers offer them, each in its server's name", async () => {
    const { sent, response } = await replay(codex, "a turn with tools of MCP servers");
    expect(toolsOf(sent)).toEqual(["exec_command", "mcp__notes__read_note"]);
    expect(response.headers.get("x-somnus-skipped-tools")).toBeNull();
  });

  it("for a summary offer no tools, though there were calls", async () => {
    const { sent } = await replay(codex, "a summary of the conversation");
    expect(toolsOf(sent)).toEqual([]);
    expect(rolesOf(sent)).toContain("tool");
  });

  it("tell of an answer that was cut, in the event that it ends on", async () => {
    const { events } = await replay(codex, "a later turn", { max_output_tokens: 2 });
    expect(events.at(-1)).toMatchObject({
      type: "response.incomplete",
      response: { incomplete_details: { reason: "max_output_tokens" } },
    });
  });
});

describe(`requests of ${claudeCode.client}`, () => {
  const turns = ["a later turn", "a turn after thoughts"];

  it("are preceded by a look at the server", async () => {
    const response = await fetch(server.url, { method: "HEAD" });
    expect(response.status).toBe(200);
  });

  it.each(turns)("are answered by the model of the alias: %s", async (name) => {
    const { response, text, events } = await replay(claudeCode, name);
    expect(response.status, text).toBe(200);
    expect(events[0]).toMatchObject({ type: "message_start", message: { model: "tiny" } });
    expect(events.at(-2)).toMatchObject({ delta: { stop_reason: "end_turn" } });
    expect(events.at(-1)).toEqual({ type: "message_stop" });
  });

  it("of a later turn have both results in the prompt, and not the line that changes", async () => {
    const { sent } = await replay(claudeCode, "a later turn");
    expect(rolesOf(sent)).toEqual(["system", "user", "system", "assistant", "tool", "tool"]);
    expect(sent.messages[3]!.tool_calls).toHaveLength(2);
    expect(JSON.stringify(sent.messages)).not.toContain("billing");
    expect(toolsOf(sent)).toContain("Bash");
  });

  it("after thoughts do not show them again", async () => {
    const { sent } = await replay(claudeCode, "a turn after thoughts");
    expect(JSON.stringify(sent.messages)).not.toContain("I should look.");
  });

  it("for a search of the web are refused by name, which it shows to its model", async () => {
    const { response, text } = await replay(claudeCode, "a search of the web");
    expect(response.status).toBe(400);
    expect(JSON.parse(text)).toMatchObject({
      error: { type: "invalid_request_error", message: expect.stringMatching(/^tools\[0\]\.type/) },
    });
  });
});
