import type {
  AskedGeneration,
  GenerationMessage,
  NamedMedia,
  NamedPicture,
  Sampling,
} from "../../generation.js";
import { pictureUrl } from "../../vendor/index.js";

type Message = GenerationMessage<NamedMedia>;
type Part = Message["parts"][number];

const EMPTY: Part = { type: "text", text: "" };

/** Where a picture stands is another place in every format. */
export function comparable(request: AskedGeneration): AskedGeneration {
  return {
    ...request,
    messages: request.messages.map((message) => ({
      ...message,
      parts: message.parts.map((part) => {
        if (part.type === "text") return part;
        if (part.type === "sound") return { ...part, param: "" };
        return { type: "picture", source: sourceOf(part), param: "" };
      }),
    })),
  };
}

function sourceOf(picture: NamedPicture): NamedPicture["source"] {
  return { url: pictureUrl(picture) };
}

/** Says nothing and calls nothing: an empty text then. */
function withText(message: Message): Message {
  return message.parts.length === 0 && !message.calls ? { ...message, parts: [EMPTY] } : message;
}

/** Pictures of results follow them in a message of the user. */
export function normalChat(request: AskedGeneration): AskedGeneration {
  const messages: Message[] = [];
  let pictures: Part[] = [];
  for (const [index, message] of request.messages.entries()) {
    if (message.role !== "tool") {
      messages.push(withText(message));
      continue;
    }
    const texts = message.parts.filter(({ type }) => type === "text");
    pictures.push(...message.parts.filter(({ type }) => type !== "text"));
    messages.push(withText({ ...message, parts: texts }));
    if (request.messages[index + 1]?.role === "tool" || pictures.length === 0) continue;
    messages.push({ role: "user", parts: pictures });
    pictures = [];
  }
  return comparable({ ...request, messages });
}

/** What one side says is one message, system texts at the head too; calls are objects. */
export function normalAnthropic(request: AskedGeneration): AskedGeneration {
  const { topLogprobs: _, contextTokens: __, ...rest } = request;
  const { temperature, topP, topK } = request.sampling;
  const sampling: Sampling = {
    ...(temperature === undefined ? {} : { temperature: Math.min(1, temperature) }),
    ...(topP === undefined ? {} : { topP }),
    ...(topK === undefined ? {} : { topK }),
  };
  const mustCall = request.offer !== undefined && request.offer.choice !== "auto";
  const spoke = request.messages.findLastIndex(({ role }) => role === "user");
  const inTurn = request.messages.slice(spoke + 1).some(({ role }) => role === "tool");
  const think = request.think && !mustCall && !inTurn;
  const { thinkBudgetTokens, json, ...plain } = rest;
  const messages: Message[] = [];
  let head = true;
  for (const { calls, ...message } of request.messages) {
    const own: Message = calls
      ? {
          ...message,
          calls: calls.map((one) => ({
            ...one,
            arguments: JSON.stringify(JSON.parse(one.arguments)),
          })),
        }
      : message;
    const last = messages.at(-1);
    head &&= own.role === "system";
    const together = own.role === "system" ? head : own.role !== "tool";
    if (last?.role !== own.role || !together) {
      messages.push(own);
      continue;
    }
    const made = [...(last.calls ?? []), ...(own.calls ?? [])];
    messages[messages.length - 1] = {
      ...last,
      parts: [...last.parts, ...own.parts],
      ...(made.length > 0 ? { calls: made } : {}),
    };
  }
  return comparable({
    ...plain,
    messages,
    choices: 1,
    sampling: think ? {} : sampling,
    stop: request.stop.filter((text) => text.trim() !== ""),
    think,
    ...(think && thinkBudgetTokens !== undefined ? { thinkBudgetTokens } : {}),
    ...(json?.schema ? { json } : {}),
  });
}

/** Calls without a text belong to what the assistant said before them. */
export function normalResponses(request: AskedGeneration): AskedGeneration {
  const { contextTokens: _, ...rest } = request;
  const { temperature, topP } = request.sampling;
  const messages: Message[] = [];
  for (const message of request.messages) {
    const last = messages.at(-1);
    if (message.calls && message.parts.length === 0 && last?.role === "assistant") {
      const calls = [...(last.calls ?? []), ...message.calls];
      messages[messages.length - 1] = { ...last, calls };
    } else messages.push(withText(message));
  }
  return comparable({
    ...rest,
    messages,
    choices: 1,
    stop: [],
    sampling: {
      ...(temperature === undefined ? {} : { temperature }),
      ...(topP === undefined ? {} : { topP }),
    },
  });
}
