import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { generateText, jsonSchema, type LanguageModel, stepCountIs, streamText, tool } from "ai";
import OpenAI from "openai";
import {
  CHAT_CHOICES,
  type Choices,
  MESSAGES_CHOICES,
  RESPONSES_CHOICES,
} from "./steering-fetch.js";
import { DESCRIPTIONS, eachTool, ORDER, SCHEMAS, TASK, type Toolbox } from "./three-tools.js";

/** What a loop talks to. */
export interface Target {
  /** Of the server, without a path. */
  url: string;
  model: string;
  /** The client's transport. */
  fetch: typeof fetch;
  toolbox: Toolbox;
}

/** An agent's loop with a client as it comes from its package: the task, three tools, the last words. */
export interface Loop {
  name: string;
  choices: Choices;
  run(target: Target): Promise<string>;
}

const MOST_TOKENS = 100;
const MOST_STEPS = 8;

/** Every client with every way of its own to run tools to the end. */
export const LOOPS: readonly Loop[] = [
  { name: "openai chat, runTools", choices: CHAT_CHOICES, run: (to) => chatRunner(to, false) },
  {
    name: "openai chat, runTools streamed",
    choices: CHAT_CHOICES,
    run: (to) => chatRunner(to, true),
  },
  {
    name: "openai responses, previous_response_id",
    choices: RESPONSES_CHOICES,
    run: (to) => responsesLoop(to, { goOn: "id", stream: false }),
  },
  {
    name: "openai responses, items replayed",
    choices: RESPONSES_CHOICES,
    run: (to) => responsesLoop(to, { goOn: "items", stream: false }),
  },
  {
    name: "openai responses, previous_response_id streamed",
    choices: RESPONSES_CHOICES,
    run: (to) => responsesLoop(to, { goOn: "id", stream: true }),
  },
  {
    name: "openai responses, items replayed and streamed",
    choices: RESPONSES_CHOICES,
    run: (to) => responsesLoop(to, { goOn: "items", stream: true }),
  },
  {
    name: "anthropic, toolRunner",
    choices: MESSAGES_CHOICES,
    run: (to) => messagesRunner(to, false),
  },
  {
    name: "anthropic, toolRunner streamed",
    choices: MESSAGES_CHOICES,
    run: (to) => messagesRunner(to, true),
  },
  ...aiLoops("openai chat", CHAT_CHOICES, (to) => openaiProvider(to).chat(to.model)),
  ...aiLoops("openai responses", RESPONSES_CHOICES, (to) => openaiProvider(to).responses(to.model)),
  ...aiLoops("anthropic", MESSAGES_CHOICES, (to) =>
    createAnthropic({ baseURL: `${to.url}/v1`, apiKey: "none", fetch: to.fetch })(to.model),
  ),
  ...aiLoops("openai-compatible", CHAT_CHOICES, (to) =>
    createOpenAICompatible({
      name: "somnus",
      baseURL: `${to.url}/v1`,
      fetch: to.fetch,
    })(to.model),
  ),
];

function openai({ url, fetch }: Target): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: "none", maxRetries: 0, fetch });
}

async function chatRunner(to: Target, stream: boolean): Promise<string> {
  const tools = ORDER.map((name) => ({
    type: "function" as const,
    function: {
      name,
      description: DESCRIPTIONS[name],
      parameters: SCHEMAS[name] as unknown as OpenAI.FunctionParameters,
      parse: (text: string) => JSON.parse(text) as object,
      function: (input: object) => to.toolbox.run(name, input),
    },
  }));
  const fields = {
    model: to.model,
    max_tokens: MOST_TOKENS,
    messages: [{ role: "user" as const, content: TASK }],
    tools,
  };
  const most = { maxChatCompletions: MOST_STEPS };
  const { completions } = openai(to).chat;
  const runner = stream
    ? completions.runTools({ ...fields, stream: true }, most)
    : completions.runTools(fields, most);
  return (await runner.finalContent()) ?? "";
}

async function responsesLoop(
  to: Target,
  how: { goOn: "id" | "items"; stream: boolean },
): Promise<string> {
  const client = openai(to);
  const fields = {
    model: to.model,
    max_output_tokens: MOST_TOKENS,
    store: how.goOn === "id",
    tools: ORDER.map((name) => ({
      type: "function" as const,
      name,
      description: DESCRIPTIONS[name],
      parameters: SCHEMAS[name] as unknown as Record<string, unknown>,
      strict: true,
    })),
  };
  let input: OpenAI.Responses.ResponseInputItem[] = [{ role: "user", content: TASK }];
  let previous: string | null = null;
  for (let step = 0; step < MOST_STEPS; step++) {
    const body = { ...fields, input, previous_response_id: previous };
    const answer: OpenAI.Responses.Response = how.stream
      ? await client.responses.stream(body).finalResponse()
      : await client.responses.create(body);
    const results = answer.output.flatMap((item) =>
      item.type === "function_call" ? [resultOf(to.toolbox, item)] : [],
    );
    if (results.length === 0) return answer.output_text;
    previous = how.goOn === "id" ? answer.id : null;
    input = how.goOn === "id" ? results : [...input, ...withoutParsed(answer.output), ...results];
  }
  throw new Error("the loop did not end");
}

function resultOf(
  toolbox: Toolbox,
  call: OpenAI.Responses.ResponseFunctionToolCall,
): OpenAI.Responses.ResponseInputItem.FunctionCallOutput {
  const name = ORDER.find((one) => one === call.name);
  if (name === undefined) throw new Error(`there is no tool ${call.name}`);
  const output = toolbox.run(name, JSON.parse(call.arguments));
  return { type: "function_call_output", call_id: call.call_id, output };
}

/** Items as the API gave them: the streaming helper adds fields of its own. */
function withoutParsed(
  items: readonly OpenAI.Responses.ResponseOutputItem[],
): OpenAI.Responses.ResponseInputItem[] {
  return items.map((item) => ({ ...item, parsed_arguments: undefined })) as never;
}

async function messagesRunner(to: Target, stream: boolean): Promise<string> {
  const client = new Anthropic({
    baseURL: to.url,
    apiKey: "none",
    maxRetries: 0,
    fetch: to.fetch,
  });
  const { toolbox } = to;
  const tools = [
    betaTool({
      name: "find_user",
      description: DESCRIPTIONS.find_user,
      inputSchema: SCHEMAS.find_user,
      run: (input) => toolbox.run("find_user", input),
    }),
    betaTool({
      name: "get_balance",
      description: DESCRIPTIONS.get_balance,
      inputSchema: SCHEMAS.get_balance,
      run: (input) => toolbox.run("get_balance", input),
    }),
    betaTool({
      name: "send_mail",
      description: DESCRIPTIONS.send_mail,
      inputSchema: SCHEMAS.send_mail,
      run: (input) => toolbox.run("send_mail", input),
    }),
  ];
  const fields = {
    model: to.model,
    max_tokens: MOST_TOKENS,
    max_iterations: MOST_STEPS,
    messages: [{ role: "user" as const, content: TASK }],
    tools,
  };
  const { messages } = client.beta;
  const last = stream
    ? await messages.toolRunner({ ...fields, stream: true }).runUntilDone()
    : await messages.toolRunner(fields).runUntilDone();
  return last.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

function openaiProvider({ url, fetch }: Target) {
  return createOpenAI({ baseURL: `${url}/v1`, apiKey: "none", fetch });
}

function aiLoops(
  provider: string,
  choices: Choices,
  modelOf: (to: Target) => LanguageModel,
): Loop[] {
  const fields = (to: Target) => ({
    model: modelOf(to),
    maxOutputTokens: MOST_TOKENS,
    maxRetries: 0,
    prompt: TASK,
    stopWhen: stepCountIs(MOST_STEPS),
    tools: eachTool((name) =>
      tool({
        description: DESCRIPTIONS[name],
        inputSchema: jsonSchema<object>(SCHEMAS[name] as object),
        execute: async (input) => to.toolbox.run(name, input),
      }),
    ),
  });
  return [
    {
      name: `AI SDK ${provider}, generateText`,
      choices,
      run: async (to) => (await generateText(fields(to))).text,
    },
    {
      name: `AI SDK ${provider}, streamText`,
      choices,
      async run(to) {
        const streamed = streamText({ ...fields(to), onError: () => undefined });
        const errors: unknown[] = [];
        for await (const part of streamed.fullStream) {
          if (part.type === "error") errors.push(part.error);
        }
        if (errors.length > 0) throw errors[0];
        return await streamed.text;
      },
    },
  ];
}
