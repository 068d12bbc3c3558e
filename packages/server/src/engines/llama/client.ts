import { type Dispatcher, Pool } from "undici";
import { AnswerBytes, type AnswerHead } from "./answer-bytes.js";

/** Where the engine is reached. */
export type Target = { socketPath: string } | { origin: string; apiKey: string };

/** An answer longer than this is not one of llama-server's; its request is cut. */
const LONGEST_ANSWER = 256 * 1024 * 1024;

export interface JsonAnswer {
  status: number;
  /** Parsed JSON, or null where the body is something else. */
  body: unknown;
}

/** How undici and the system call it when the other side has closed the connection. */
const CLOSED: readonly unknown[] = ["UND_ERR_SOCKET", "ECONNRESET", "EPIPE"];

/**
 * Speaks HTTP to one engine process. A request has a connection to itself while it runs, since cutting
 * it is what tells the engine to stop; where it came to its end, the connection serves again.
 */
export class EngineClient {
  readonly #kept: Pool;
  /** Its connections serve one request each. */
  readonly #fresh: Pool;
  readonly #headers: Record<string, string>;

  constructor(target: Target) {
    const origin = "origin" in target ? target.origin : "http://engine.local";
    const options = {
      headersTimeout: 0,
      bodyTimeout: 0,
      ...("socketPath" in target ? { socketPath: target.socketPath } : {}),
    };
    // How long a connection may rest is told by the engine's answers; undici closes it 2 s earlier.
    this.#kept = new Pool(origin, { ...options, pipelining: 1 });
    this.#fresh = new Pool(origin, { ...options, pipelining: 0 });
    this.#headers = {
      "content-type": "application/json",
      ...("apiKey" in target ? { authorization: `Bearer ${target.apiKey}` } : {}),
    };
  }

  /** @throws what the connection threw, or the signal's reason */
  async get(path: string, signal: AbortSignal): Promise<JsonAnswer> {
    return readJson(await this.#send("GET", path, null, signal));
  }

  /** @throws what the connection threw, or the signal's reason */
  async post(path: string, body: unknown, signal: AbortSignal): Promise<JsonAnswer> {
    return readJson(await this.open(path, body, signal));
  }

  /**
   * Posts and hands on the answer with its bytes unread. The signal cuts the connection at any time.
   * @throws what the connection threw, or the signal's reason
   */
  open(path: string, body: unknown, signal: AbortSignal): Promise<AnswerHead> {
    return this.#send("POST", path, JSON.stringify(body), signal);
  }

  async #send(
    method: "GET" | "POST",
    path: string,
    body: string | null,
    signal: AbortSignal,
  ): Promise<AnswerHead> {
    const request = { method, path, headers: this.#headers, body };
    try {
      return await begin(this.#kept, request, signal);
    } catch (error) {
      // The engine closes connections that have rested too long, and may do so just when one is used.
      if (signal.aborted || !isClosed(error)) throw error;
      return begin(this.#fresh, request, signal);
    }
  }

  /** Cuts what is running. */
  async destroy(): Promise<void> {
    await Promise.all([this.#kept.destroy(), this.#fresh.destroy()]);
  }
}

function begin(
  pool: Pool,
  request: Dispatcher.DispatchOptions,
  signal: AbortSignal,
): Promise<AnswerHead> {
  if (signal.aborted) return Promise.reject(signal.reason);
  const answer = new AnswerBytes(signal);
  pool.dispatch(request, answer);
  return answer.head;
}

function isClosed(error: unknown): boolean {
  return error instanceof Error && "code" in error && CLOSED.includes(error.code);
}

/** Reads a whole answer. @throws what the connection threw */
export async function readJson(answer: AnswerHead): Promise<JsonAnswer> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of answer.bytes) {
    length += piece.length;
    if (length > LONGEST_ANSWER) throw new Error("the engine's answer is too long");
    pieces.push(piece);
  }
  try {
    return { status: answer.status, body: JSON.parse(Buffer.concat(pieces).toString("utf8")) };
  } catch {
    return { status: answer.status, body: null };
  }
}
