import type { Readable, Writable } from "node:stream";
import { Output } from "./output.js";

/** Standard input, as far as it is used here: a terminal's or a pipe's. */
export type Input = Readable & {
  isTTY?: boolean;
  setRawMode?: (raw: boolean) => unknown;
};

/** The streams that a program of the command line gets. */
export interface Streams {
  stdin: Input;
  stdout: Writable & { isTTY?: boolean; columns?: number };
  stderr: Writable & { isTTY?: boolean; columns?: number };
  env: NodeJS.ProcessEnv;
  /** The folder that relative paths count from. */
  cwd: string;
  /** Calls `listener` for each signal of this name until the returned function is called. */
  onSignal(name: NodeJS.Signals, listener: () => void): () => void;
  /** Ends the program at once, whatever still runs. */
  exit(code: number): void;
}

/** What every verb works with. */
export interface Io extends Omit<Streams, "stdout" | "stderr"> {
  out: Output;
  err: Output;
}

/** The streams of this process. */
export function processStreams(): Streams {
  return {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: process.cwd(),
    onSignal(name, listener) {
      process.on(name, listener);
      return () => process.off(name, listener);
    },
    exit: (code) => process.exit(code),
  };
}

export function openIo(streams: Streams): Io {
  const { stdin, env, cwd } = streams;
  return {
    stdin,
    out: new Output(streams.stdout, env),
    err: new Output(streams.stderr, env),
    env,
    cwd,
    onSignal: (name, listener) => streams.onSignal(name, listener),
    exit: (code) => streams.exit(code),
  };
}
