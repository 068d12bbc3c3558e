import type { ChatChunk, ChatResponse } from "@somnus/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readChunks, startTestServer, type TestServer } from "../test-server.js";

const THINKS = "{{ messages }}{% if enable_thinking %}<think>{% endif %}";
const ALWAYS = "{{ messages }}{% if add_generation_prompt %}<think>{% endif %}";
const SCRIPT = { thinking: true, reasoning: "So it is.", answer: "Yes." };

let servers: Record<"thinks" | "always" | "never", TestServer>;
beforeAll(async () => {
  const [thinks, always, never] = await Promise.all([
    startTestServer({ script: {}, template: THINKS }),
    startTestServer({ script: {}, template: ALWAYS }),
    startTestServer({ script: { answer: "Yes." } }),
  ]);
  servers = { thinks, always, never };
  // What an engine says of its template is read when it starts.
  for (const server of [thinks, always]) await server.engine.script(SCRIPT);
});
afterAll(() => Promise.all(Object.values(servers).map((server) => server.dispose())));

async function message(which: keyof typeof servers, fields: Record<string, unknown>) {
  const response = await servers[which].chat(fields);
  const body = (await response.json()) as ChatResponse;
  expect(response.status, JSON.stringify(body)).toBe(200);
  return body.choices[0]!.message;
}

async function lastBody(): Promise<Record<string, unknown>> {
  const journal = await servers.thinks.engine.journal();
  return journal.filter(({ event }) => event === "request").at(-1)!.body!;
}

describe("thoughts", () => {
  it("are shown before the answer when they were asked for, whole and streamed", async () => {
    expect(await message("thinks", { think: true })).toMatchObject({
      content: "Yes.",
      reasoning_content: "So it is.",
    });
    const response = await servers.thinks.chat({ think: true, stream: true });
    const chunks = (await readChunks(response)) as ChatChunk[];
    const pieces = chunks.flatMap(({ choices: [choice] }) =>
      choice?.delta.reasoning_content ? "r" : choice?.delta.content ? "c" : [],
    );
    expect(pieces.join("")).toMatch(/^r+c+$/);
  });

  it("are not shown otherwise, and never stand in the content", async () => {
    for (const fields of [{}, { enable_thinking: true }, { reasoning_effort: "none" }]) {
      const answer = await message("thinks", fields);
      expect(answer.content).toBe("Yes.");
      expect(answer).not.toHaveProperty("reasoning_content");
    }
  });

  it("are shown with enable_thinking when show_thinking says so", async () => {
    const fields = { enable_thinking: true, show_thinking: true };
    expect(await message("thinks", fields)).toHaveProperty("reasoning_content", "So it is.");
  });

  it("have the level's budget, and none where there are to be none", async () => {
    await message("thinks", { reasoning_effort: "medium" });
    expect(await lastBody()).toMatchObject({
      thinking_budget_tokens: 2048,
      chat_template_kwargs: { enable_thinking: true },
    });
    await message("thinks", { reasoning_effort: "none" });
    expect(await lastBody()).toMatchObject({
      thinking_budget_tokens: 0,
      chat_template_kwargs: { enable_thinking: false },
    });
  });

  it("of earlier turns do not reach the model", async () => {
    await message("thinks", {
      messages: [
        { role: "user", content: "Hi" },
        { role: "assistant", content: "Hello", reasoning_content: "A greeting." },
        { role: "user", content: "So?" },
      ],
    });
    expect(JSON.stringify(await lastBody())).not.toContain("greeting");
  });
});

describe("a model that does not do as the request insists", () => {
  it("refuses to think when it cannot, and to answer without when it must", async () => {
    for (const [which, fields, param] of [
      ["never", { enable_thinking: true }, "enable_thinking"],
      ["never", { enable_reasoning: true }, "enable_reasoning"],
      ["always", { enable_thinking: false }, "enable_thinking"],
    ] as const) {
      const response = await servers[which].chat(fields);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: { param } });
    }
  });

  it("ignores think, reasoning_effort, and what it does anyway", async () => {
    for (const fields of [
      { think: true },
      { reasoning_effort: "high" },
      { enable_thinking: false },
    ]) {
      expect((await message("never", fields)).content).toBe("Yes.");
    }
    expect((await message("always", { enable_thinking: true })).content).toBe("Yes.");
  });
});
