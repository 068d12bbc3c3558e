import type { ResponsesAnswer, ResponsesKeptItem } from "@somnus/contract";
import type { Config } from "./config/index.js";
import type { KeptResponse, ResponseKeeper } from "./inference/index.js";
import type { Logger } from "./observe/index.js";
import {
  removeResponses,
  responseChain,
  responsesBeyond,
  responsesOf,
  type Store,
  type StoredResponse,
  saveResponses,
} from "./store/index.js";

/** One response may take this part of all the room, so that it cannot push out most others. */
const LARGEST_PART = 8;
/** The most that is kept of a request, whatever the room; what waits to be written is bounded, too. */
const LARGEST_BYTES = 8 * 2 ** 20;
/** How much larger a response may have become by its answer: log probabilities take megabytes. */
const MOST_WITH_ANSWER = 3;

/** The responses that are kept, in the store, within the configured bounds. */
export class KeptResponses implements ResponseKeeper {
  readonly #store: Store;
  readonly #bounds: Config["responses"];
  readonly #log: Logger;
  readonly #now: () => number;
  #trimming: Promise<void> | null = null;
  #trimAgain = false;

  /** @param now milliseconds since 1970 */
  constructor(options: {
    store: Store;
    bounds: Config["responses"];
    log: Logger;
    now?: () => number;
  }) {
    this.#store = options.store;
    this.#bounds = options.bounds;
    this.#log = options.log;
    this.#now = options.now ?? Date.now;
  }

  canKeep({ input, echo }: Parameters<ResponseKeeper["canKeep"]>[0]): boolean {
    const { store_ttl_secs, max_stored } = this.#bounds;
    if (store_ttl_secs === 0 || max_stored === 0) return false;
    return bytesOf(input) + bytesOf(echo) <= this.#largest();
  }

  save(owner: string, { response, input }: KeptResponse): void {
    const bytes = bytesOf(response) + bytesOf(input);
    if (bytes > this.#largest() * MOST_WITH_ANSWER) {
      this.#log.warn({ id: response.id, bytes }, "a response is too large to be kept");
      return;
    }
    const at = this.#now();
    const row: StoredResponse = {
      id: response.id,
      owner,
      previousId: response.previous_response_id,
      bytes,
      at,
      expiresAt: at + Math.round(this.#bounds.store_ttl_secs * 1_000),
      response,
      input,
    };
    saveResponses(this.#store, [row]);
    this.#trimSoon();
  }

  async get(owner: string, id: string): Promise<KeptResponse | null> {
    const [found] = await this.some(owner, [id]);
    return found ?? null;
  }

  async some(owner: string, ids: readonly string[]): Promise<KeptResponse[]> {
    if (ids.length === 0) return [];
    const rows = await responsesOf(this.#store, owner, ids, this.#now());
    return rows.map(readRow);
  }

  async chain(owner: string, id: string): Promise<KeptResponse[] | null> {
    const rows = await responseChain(this.#store, owner, id, this.#now());
    const oldest = rows.at(-1);
    if (!oldest || oldest.previousId !== null) return null;
    return rows.reverse().map(readRow);
  }

  async remove(owner: string, id: string): Promise<boolean> {
    if ((await this.get(owner, id)) === null) return false;
    removeResponses(this.#store, [id]);
    return true;
  }

  /** Resolves when what is beyond the bounds has been given up. */
  async settled(): Promise<void> {
    while (this.#trimming !== null) await this.#trimming;
  }

  #largest(): number {
    return Math.min(LARGEST_BYTES, this.#bounds.max_stored_bytes / LARGEST_PART);
  }

  #trimSoon(): void {
    this.#trimAgain = true;
    this.#trimming ??= this.#trim();
  }

  async #trim(): Promise<void> {
    try {
      while (this.#trimAgain) {
        this.#trimAgain = false;
        const { max_stored: most, max_stored_bytes: bytes } = this.#bounds;
        const ids = await responsesBeyond(this.#store, { most, bytes }, this.#now());
        if (ids.length > 0) removeResponses(this.#store, ids);
      }
    } catch (error) {
      this.#log.warn({ err: error }, "responses beyond their bounds could not be given up");
    } finally {
      this.#trimming = null;
    }
  }
}

function bytesOf(value: object): number {
  return Buffer.byteLength(JSON.stringify(value));
}

function readRow(row: StoredResponse): KeptResponse {
  return {
    response: row.response as ResponsesAnswer,
    input: row.input as ResponsesKeptItem[],
  };
}
