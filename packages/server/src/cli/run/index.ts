import type { ChatRequest } from "@somnus/client";
import { type ConnectionOptions, connect } from "../connection.js";
import { usageError } from "../failure.js";
import type { Io } from "../io.js";
import { interactiveChat } from "./chat.js";
import { chooseModel } from "./choose-model.js";
import { Conversation } from "./conversation.js";
import { askOnce, askWhole } from "./one-shot.js";
import { readPipedText } from "./piped-text.js";
import { waitUntilReady } from "./wait-ready.js";

export interface RunOptions extends ConnectionOptions {
  system?: string;
  temperature?: number;
  maxTokens?: number;
  seed?: number;
  json?: boolean;
}

/**
 * `somnus run [model] [prompt...]`: one question and its answer when there is a prompt or piped
 * text, else a chat at the terminal.
 */
export async function run(io: Io, options: RunOptions, args: string[]): Promise<number> {
  const { model: wanted, prompt } = readArguments(args);
  const question = await readQuestion(io, prompt);
  if (question === null && options.json) {
    throw usageError(
      "--json needs a question.",
      'For example: somnus run --json qwen2.5-coder:0.5b "Hello"',
    );
  }
  const connection = await connect(io, options);
  await waitUntilReady(io, connection);
  const model = await chooseModel(connection, wanted);
  const conversation = new Conversation(model, options.system ?? null, samplingOf(options));
  if (question === null) return interactiveChat(io, connection, conversation);
  const request = conversation.request(question);
  return options.json ? askWhole(io, connection, request) : askOnce(io, connection.client, request);
}

/** A model's id has no space in it, so a first argument with one is the prompt already. */
function readArguments([first, ...rest]: string[]): { model: string | undefined; prompt: string } {
  if (first === undefined) return { model: undefined, prompt: "" };
  if (/\s/.test(first)) return { model: undefined, prompt: [first, ...rest].join(" ") };
  return { model: first, prompt: rest.join(" ") };
}

/** The prompt and what was piped in; null when the chat is to be at the terminal. */
async function readQuestion(io: Io, prompt: string): Promise<string | null> {
  if (io.stdin.isTTY === true) {
    if (prompt !== "") return prompt;
    if (io.out.isTerminal) return null;
    throw usageError(
      "The output is no terminal to chat at.",
      'Give a prompt: somnus run MODEL "..."',
    );
  }
  const piped = await readPipedText(io, prompt !== "");
  const question = [prompt, piped].filter((part) => part.trim() !== "").join("\n\n");
  if (question !== "") return question;
  throw usageError("There is nothing to ask.", 'Give a prompt: somnus run MODEL "..."');
}

function samplingOf(options: RunOptions): Partial<ChatRequest> {
  return {
    ...(options.temperature === undefined ? {} : { temperature: options.temperature }),
    ...(options.maxTokens === undefined ? {} : { max_tokens: options.maxTokens }),
    ...(options.seed === undefined ? {} : { seed: options.seed }),
  };
}
