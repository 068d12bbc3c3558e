import type { Dispatcher } from "undici";
import { SourceFailure } from "../failure.js";
import type { Part } from "../part/part.js";
import type { Range } from "../part/ranges.js";
import { type Answer, hasCertainEnd, isStrong, isWebPage, readAnswer } from "./answer.js";
import type { Receiving } from "./receiving.js";
import { StartOver } from "./start-over.js";

/** An answer that fits its question; whoever asked reads or destroys the body. */
export interface Asked {
  body: Dispatcher.ResponseData["body"];
  answer: Answer;
  certainEnd: boolean;
}

/** Asks for a piece, or for the whole file, and sees that the answer fits the question and the part. */
export async function ask(
  receiving: Receiving,
  range: Range | null,
  signal: AbortSignal,
): Promise<Asked> {
  const { connection, part, mode, request } = receiving;
  const headers: Record<string, string> = {};
  if (range) {
    const last = range[1] === Number.POSITIVE_INFINITY ? "" : range[1] - 1;
    headers.range = `bytes=${range[0]}-${last}`;
    const known = mode.validators ? part.validator : null;
    if (known !== null && isStrong(known)) headers["if-range"] = known;
  }
  const response = await connection.ask(headers, signal);
  try {
    const answer = readAnswer(response, request.advice);
    if (answer.kind === "none" && !range) {
      throw new SourceFailure("wrong", "it answered with status 416");
    }
    if (answer.kind !== "none") requireNoWebPage(response, part, answer);
    if (answer.kind === "piece") requireFitting(receiving, answer, range);
    return { body: response.body, answer, certainEnd: hasCertainEnd(response) };
  } catch (error) {
    response.body.destroy();
    throw error;
  }
}

function requireNoWebPage(
  response: Dispatcher.ResponseData,
  part: Part,
  { size }: { size: number | null },
): void {
  if (!isWebPage(response)) return;
  const { expected } = part;
  // A server may call anything a page; the hash tells, unless there is none or the size is another one.
  const otherSize = size !== null && expected.size !== null && size !== expected.size;
  if (expected.sha256 !== null && !otherSize) return;
  throw new SourceFailure("wrong", "it answered with a web page instead of the file");
}

function requireFitting(
  { part, mode }: Receiving,
  answer: Extract<Answer, { kind: "piece" }>,
  range: Range | null,
): void {
  if (!range)
    throw new SourceFailure("wrong", "it sent a piece where the whole file was asked for");
  const end = Math.min(range[1], answer.size ?? part.expected.size ?? range[1]);
  if (answer.range[0] !== range[0] || answer.range[1] > end) {
    throw new StartOver("the server sends other pieces than it is asked for", "ranges");
  }
  const changed = mode.validators && part.validator !== null && answer.validator !== part.validator;
  if (!changed) return;
  // With a hash to check at the end a server whose names for one state differ can still be used.
  const pinned = part.expected.sha256 !== null;
  throw new StartOver("the file has changed on the server", pinned ? "validators" : null);
}
