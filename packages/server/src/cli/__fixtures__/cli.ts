import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { onTestFinished } from "vitest";
import { main } from "../index.js";
import type { Streams } from "../io.js";

/** An output that keeps what is written to it and tells when something has come. */
export class Captured extends Writable {
  raw = "";
  isTTY?: boolean;
  columns?: number;
  readonly #waiting = new Set<() => void>();

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.raw += chunk.toString();
    for (const look of this.#waiting) look();
    done();
  }

  /** Without control sequences. */
  get text(): string {
    return stripVTControlCharacters(this.raw);
  }

  /** Resolves when `text` was written, after the first `from` characters. */
  async shows(text: string, from = 0): Promise<number> {
    return new Promise((resolve) => {
      const look = () => {
        const at = this.text.indexOf(text, from);
        if (at === -1) return;
        this.#waiting.delete(look);
        resolve(at + text.length);
      };
      this.#waiting.add(look);
      look();
    });
  }
}

export interface CliOptions {
  stdin?: string;
  env?: NodeJS.ProcessEnv;
  /** Makes outputs and input those of a terminal so many columns wide. */
  terminal?: number;
  cwd?: string;
}

/** One run of the command line in this process. */
export interface CliRun {
  out: Captured;
  err: Captured;
  stdin: PassThrough;
  /** The exit status. */
  ended: Promise<number>;
  /** Whether somebody listens for the signal; if so they were called. */
  signal(name: NodeJS.Signals): boolean;
  listens(name: NodeJS.Signals): boolean;
  exits: number[];
}

/** Starts the command line with streams of its own and an environment that knows no user. */
export async function startCli(argv: string[], options: CliOptions = {}): Promise<CliRun> {
  const { streams, ...watched } = await openStreams(options);
  return { ...watched, ended: main(argv, streams) };
}

/** Streams of their own, and what they show. */
export async function openStreams(
  options: CliOptions = {},
): Promise<Omit<CliRun, "ended"> & { streams: Streams }> {
  const out = new Captured();
  const err = new Captured();
  const stdin = new PassThrough();
  if (options.terminal !== undefined) {
    for (const output of [out, err]) {
      Object.assign(output, { isTTY: true, columns: options.terminal });
    }
    Object.assign(stdin, { isTTY: true, setRawMode: () => {} });
  } else stdin.end(options.stdin ?? "");
  const listeners = new Map<string, Set<() => void>>();
  const exits: number[] = [];
  const home = await temporaryFolder();
  const streams: Streams = {
    ...{ stdin, stdout: out, stderr: err },
    env: { HOME: home, PATH: process.env.PATH, ...options.env },
    cwd: options.cwd ?? home,
    onSignal(name, listener) {
      const all = listeners.get(name) ?? new Set();
      listeners.set(name, all.add(listener));
      return () => all.delete(listener);
    },
    exit: (code) => exits.push(code),
  };
  return {
    ...{ out, err, stdin, exits, streams },
    listens: (name) => (listeners.get(name)?.size ?? 0) > 0,
    signal(name) {
      const all = [...(listeners.get(name) ?? [])];
      for (const listener of all) listener();
      return all.length > 0;
    },
  };
}

/** Runs the command line to its end. */
export async function runCli(argv: string[], options: CliOptions = {}) {
  const run = await startCli(argv, options);
  const code = await run.ended;
  return { code, out: run.out.text, err: run.err.text, raw: run.out.raw };
}

/** A folder that is removed with the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "somnus-cli-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
