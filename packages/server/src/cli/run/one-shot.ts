import { type ChatRequest, SomnusClient } from "@somnus/client";
import { Agent, type RequestInit as UndiciInit, fetch as undiciFetch } from "undici";
import type { Connection } from "../connection.js";
import { EXIT, interrupted } from "../failure.js";
import type { Io } from "../io.js";
import { statsText, streamAnswer } from "./answer.js";

/** Writes the answer to one question as it comes; what it took follows on a terminal. */
export async function askOnce(
  io: Io,
  client: SomnusClient,
  request: Omit<ChatRequest, "stream">,
): Promise<number> {
  const answer = await streamAnswer(io, client, request);
  if (io.out.isTerminal && io.err.isTerminal) {
    const stats = statsText(answer);
    if (stats !== "") io.err.line(io.err.paint.dim(stats));
  }
  if (!answer.stopped || io.out.broken.aborted) return EXIT.ok;
  return EXIT.interrupted;
}

/** Prints the whole response to one question as JSON. */
export async function askWhole(
  io: Io,
  connection: Connection,
  request: Omit<ChatRequest, "stream">,
): Promise<number> {
  const abort = new AbortController();
  const release = io.onSignal("SIGINT", () => abort.abort(interrupted("Stopped.")));
  // The usual fetch gives up on an answer whose head takes more than five minutes.
  const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
  const patientFetch = (input: unknown, init?: object) =>
    undiciFetch(String(input), { ...(init as UndiciInit), dispatcher: agent });
  try {
    const client = new SomnusClient({
      baseUrl: connection.url,
      apiKey: connection.apiKey,
      fetch: patientFetch as unknown as typeof fetch,
    });
    io.out.json(await client.chat(request, { signal: abort.signal }));
    return EXIT.ok;
  } finally {
    release();
    await agent.destroy();
  }
}
