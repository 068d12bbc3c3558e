import type {
  ResponsesAnswer,
  ResponsesEvent,
  ResponsesRequest,
  Telemetry,
} from "@somnus/contract";
import type { GenerationEvent } from "../../generation.js";
import { type Found, ResponsesWriter, readResponsesRequest } from "../index.js";

export const ID = `resp_${"0123456789abcdef".repeat(2)}`;
export const LIMITS = { max_prompt_chars: 1_000, max_tokens_cap: 100, default_max_tokens: 50 };
export const NOTHING_KEPT: Found = { chain: [], responses: [] };
export const USAGE: GenerationEvent = {
  type: "usage",
  choice: 0,
  usage: { promptTokens: 7, completionTokens: 3, cachedTokens: 2 },
};

/** What the writer takes for measured. */
export const TELEMETRY = { tier_switch_latency_ms: 1 } as Telemetry;

/** Reads a body as the route does. */
export function read(body: Partial<ResponsesRequest>, found: Found = NOTHING_KEPT) {
  return readResponsesRequest({ input: "Hi", ...body }, ID, found, LIMITS);
}

export function writerOf(body: Partial<ResponsesRequest> = {}): ResponsesWriter {
  const { echo, thoughts, generation } = read(body);
  return new ResponsesWriter(
    { id: ID, createdAt: 100, model: "tiny", echo },
    { thoughts, topLogprobs: generation.topLogprobs, now: () => 101 },
  );
}

/** All that is written of a generation. */
export async function written(
  events: readonly GenerationEvent[],
  body: Partial<ResponsesRequest> = {},
): Promise<{ events: ResponsesEvent[]; response: ResponsesAnswer }> {
  const writer = writerOf(body);
  const all: ResponsesEvent[] = [];
  for await (const event of writer.write(each(events), () => TELEMETRY)) all.push(event);
  return { events: all, response: writer.response };
}

/** The events, one at a time. */
export async function* each(events: readonly GenerationEvent[]) {
  yield* events;
}
