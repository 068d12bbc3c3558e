import { Pool } from "undici";
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

/**
 * Speaks HTTP to one engine process. Every request has its own connection: the socket is local, so
 * that costs next to nothing, and cutting it is what tells the engine to stop.
 */
export class EngineClient {
  readonly #pool: Pool;
  readonly #headers: Record<string, string>;

  constructor(target: Target) {
    const origin = "origin" in target ? target.origin : "http://engine.local";
    this.#pool = new Pool(origin, {
      // Zero: no keep-alive. A kept connection may die unseen and would hold a thread of the server.
      pipelining: 0,
      headersTimeout: 0,
      bodyTimeout: 0,
      ...("socketPath" in target ? { socketPath: target.socketPath } : {}),
    });
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

  #send(
    method: "GET" | "POST",
    path: string,
    body: string | null,
    signal: AbortSignal,
  ): Promise<AnswerHead> {
    if (signal.aborted) return Promise.reject(signal.reason);
    const answer = new AnswerBytes(signal);
    this.#pool.dispatch({ method, path, headers: this.#headers, body }, answer);
    return answer.head;
  }

  /** Cuts what is running. */
  async destroy(): Promise<void> {
    await this.#pool.destroy();
  }
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
