import { Worker } from "node:worker_threads";
import { type ErrorCode, SomnusError } from "../http/errors.js";
import type { Backend, Call, Said } from "./backend.js";
import type { LedgerStatus, Tell } from "./ledger.js";
import type { SqlValue } from "./table.js";
import type { Take, Taken, WriteGroup, WriteReport } from "./writes.js";

/** How long closing waits for a disk that does not answer. Milliseconds. */
const CLOSE_MS = 10_000;
/** How long it then waits for the thread to end. Milliseconds. */
const END_MS = 1_000;

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/**
 * A ledger in a thread of its own.
 *
 * @throws SomnusError `conflict` when a newer program made the file; Error when the thread does
 * not start.
 */
export async function startThread(path: string, tell: Tell): Promise<Backend> {
  const backend = new ThreadBackend(tell);
  try {
    await backend.open(path);
  } catch (error) {
    await backend.end();
    throw error;
  }
  return backend;
}

class ThreadBackend implements Backend {
  readonly gone: Promise<Error>;
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  readonly #exited: Promise<void>;
  #lastId = 0;
  #closing = false;
  #failure: Error | null = null;
  #status: LedgerStatus | null = null;

  constructor(tell: Tell) {
    // Flags of this process, such as an inline script, are not meant for the thread.
    this.#worker = new Worker(new URL("./thread.js", import.meta.url), { execArgv: [] });
    this.gone = new Promise((resolve) => {
      this.#worker.on("error", (error) => resolve(this.#fail(error)));
      this.#worker.on("exit", (code) => {
        const failure = this.#fail(new Error(`the store's thread ended (${code})`));
        if (!this.#closing) resolve(failure);
      });
    });
    this.#exited = new Promise((resolve) => this.#worker.on("exit", () => resolve()));
    this.#worker.on("message", (said: Said) => this.#hear(said, tell));
  }

  get status(): LedgerStatus {
    if (this.#status === null) throw new Error("the store was not opened");
    return this.#status;
  }

  async open(path: string): Promise<void> {
    await this.#ask({ call: "open", path });
  }

  write(groups: readonly WriteGroup[]): Promise<WriteReport> {
    return this.#ask({ call: "write", groups });
  }

  take(takes: readonly Take[]): Promise<Taken[]> {
    return this.#ask({ call: "take", takes });
  }

  all(sql: string, values: readonly SqlValue[]): Promise<SqlValue[][]> {
    return this.#ask({ call: "all", sql, values });
  }

  tend(now: number): Promise<void> {
    return this.#ask({ call: "tend", now });
  }

  async close(): Promise<void> {
    if (this.#closing) return this.#exited;
    this.#closing = true;
    await within(
      this.#ask({ call: "close" }).catch(() => {}),
      CLOSE_MS,
    );
    await this.end();
  }

  /** Ends the thread as it is. */
  async end(): Promise<void> {
    this.#closing = true;
    void this.#worker.terminate();
    this.#worker.ref();
    // A thread inside a system call that never returns cannot be ended; the end of the process does.
    await within(this.#exited, END_MS);
    this.#worker.unref();
  }

  #ask<T>(call: Call): Promise<T> {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise<T>((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
      // The thread keeps the process alive while an answer is due, and only then.
      this.#worker.ref();
      this.#worker.postMessage({ ...call, id });
    });
  }

  #hear(said: Said, tell: Tell): void {
    if ("level" in said) {
      tell(said.level, said.fields, said.message);
      return;
    }
    if (said.status !== null) this.#status = said.status;
    const waiting = this.#waiting.get(said.id);
    this.#waiting.delete(said.id);
    if (this.#waiting.size === 0) this.#worker.unref();
    if ("error" in said) waiting?.reject(errorFrom(said.error));
    else waiting?.resolve(said.value);
  }

  #fail(error: Error): Error {
    this.#failure ??= error;
    for (const { reject } of this.#waiting.values()) reject(this.#failure);
    this.#waiting.clear();
    return this.#failure;
  }
}

/** Resolves with `work` or after so many milliseconds. */
async function within(work: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}

function errorFrom({ message, code }: { message: string; code: string | null }): Error {
  return code === null ? new Error(message) : new SomnusError(code as ErrorCode, message);
}
