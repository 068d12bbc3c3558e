import type { ChatChunk } from "@somnus/contract";
import { SomnusClient } from "../index.js";

export function textChunk(content: string): ChatChunk {
  return {
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta: { content }, finish_reason: null }],
  };
}

export function frames(...events: unknown[]): string {
  return events
    .map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`)
    .join("");
}

/** A streamed response that arrives in the given pieces. */
export function streamed(pieces: (string | Uint8Array)[], headers: Record<string, string> = {}) {
  const encoder = new TextEncoder();
  const body = new ReadableStream({
    start(controller) {
      for (const piece of pieces) {
        controller.enqueue(typeof piece === "string" ? encoder.encode(piece) : piece);
      }
      controller.close();
    },
  });
  return new Response(body, {
    headers: { "content-type": "text/event-stream; charset=utf-8", ...headers },
  });
}

/** A client whose calls are answered by `answer`. */
export function clientOf(
  answer: (url: string, init: RequestInit) => Response | Promise<Response>,
  options: { baseUrl?: string; apiKey?: string } = {},
) {
  return new SomnusClient({
    ...options,
    fetch: async (input, init) => answer(String(input), init ?? {}),
  });
}

export async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const one of stream) all.push(one);
  return all;
}

export const HELLO = { model: "m", messages: [{ role: "user" as const, content: "Hello" }] };
