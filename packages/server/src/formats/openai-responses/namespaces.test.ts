import { describe, expect, it } from "vitest";
import { ID, read, written } from "./__fixtures__/written.js";

const note = {
  type: "function",
  name: "read_note",
  parameters: { type: "object", properties: { title: { type: "string" } } },
};
const tools = [
  { ...note, name: "ls" },
  {
    type: "namespace",
    name: "mcp__notes",
    description: "Notes.",
    tools: [note, { type: "custom" }],
  },
];

describe("functions in a namespace", () => {
  it("are offered under both names, and shown in the answer's tools as they came", () => {
    const { generation, echo, skippedTools } = read({ tools });
    expect(generation.offer?.tools.map(({ name }) => name)).toEqual([
      "ls",
      "mcp__notes__read_note",
    ]);
    expect(echo.tools).toMatchObject([
      { type: "function", name: "ls" },
      { type: "namespace", name: "mcp__notes", tools: [{ type: "function", name: "read_note" }] },
    ]);
    expect(skippedTools).toEqual(["custom"]);
  });

  it("are called by their own name in their namespace, and so in the next request", async () => {
    const { events, response } = await written(
      [
        {
          type: "call",
          choice: 0,
          call: { id: "c1", name: "mcp__notes__read_note", arguments: "{}" },
        },
        { type: "call", choice: 0, call: { id: "c2", name: "ls", arguments: "{}" } },
        { type: "finish", choice: 0, reason: "tool_calls" },
      ],
      { tools },
    );
    expect(response.output).toMatchObject([
      { type: "function_call", name: "read_note", namespace: "mcp__notes" },
      { type: "function_call", name: "ls" },
    ]);
    expect(response.output[1]).not.toHaveProperty("namespace");
    const done = events.find(({ type }) => type === "response.function_call_arguments.done");
    expect(done).toMatchObject({ name: "read_note" });

    const results = ["c1", "c2"].map((call_id) => ({
      type: "function_call_output" as const,
      call_id,
      output: "42",
    }));
    const names = ({ generation }: ReturnType<typeof read>) =>
      generation.messages.flatMap(({ calls, result }) => [
        ...(calls ?? []).map(({ name }) => name),
        ...(result ? [result.name] : []),
      ]);
    const both = ["mcp__notes__read_note", "ls"];
    const user = { role: "user" as const, content: "Hi" };
    const replayed = read({ tools, input: [user, ...response.output, ...results] });
    expect(names(replayed)).toEqual([...both, ...both]);
    const kept = { id: ID, input: replayed.input.slice(0, 1), output: response.output };
    const goneOn = read({ tools, input: results }, { chain: [kept], responses: [] });
    expect(names(goneOn)).toEqual([...both, ...both]);
    expect(replayed.input[1]).toMatchObject({ name: "read_note", namespace: "mcp__notes" });
  });

  it("are refused by the path of what is wrong", () => {
    const param = (tool: object) => {
      try {
        read({ tools: [tool as { type: string }] });
      } catch (error) {
        return (error as { param?: string }).param;
      }
      return undefined;
    };
    expect(param({ type: "namespace", tools: [note] })).toBe("tools[0].name");
    expect(param({ type: "namespace", name: "n", tools: [note, note] })).toBe(
      "tools[0].tools[1].name",
    );
    expect(
      param({ type: "namespace", name: "n", tools: [{ ...note, parameters: { type: 3 } }] }),
    ).toMatch(/^tools\[0\]\.tools\[0\]\.parameters/);
  });
});
