import type { ResponsesAnswer, Telemetry } from "@somnus/contract";
import type { GenerationEvent } from "../generation.js";
import type { ResponsesWriter } from "./write-stream.js";

/**
 * Joins a generation into one response.
 * @throws SomnusError engine_failed when the engine ended the answer without saying why, and what `events` throws
 */
export async function writeResponsesAnswer(
  writer: ResponsesWriter,
  events: AsyncIterable<GenerationEvent>,
  telemetry: () => Telemetry,
): Promise<ResponsesAnswer> {
  for await (const _ of writer.write(events, telemetry));
  return writer.response;
}
