import { spawn } from "node:child_process";
import { errorCode } from "../../files/index.js";
import { killGroup, tiedToOurLife } from "../../processes/index.js";

/** How a run of a package client ended. */
export interface ClientRun {
  /** Exit status; null when it was killed. */
  status: number | null;
  /** The end of what it printed, both streams in the order they came. */
  output: string;
  /** Killed because nothing happened for too long. */
  silent: boolean;
}

/** How a run of a package client is watched. */
export interface ClientWatch {
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
  /** Folder to run in; that of this process when absent. */
  cwd?: string;
  /** Bytes that it has downloaded so far, as its folders show; growth counts as a sign of life. */
  bytesSoFar?: () => Promise<number>;
  /** Hears them. */
  downloaded?: (bytes: number) => void;
  /** How long it may now keep silent, given what it printed so far. */
  quietMs: (output: string) => number;
}

const KEPT_OUTPUT = 64 * 1024;
/** A loaded machine may take seconds to start an interpreter, which says nothing about the network. */
export const CLIENT_START_MS = 20_000;
const WATCH_MS = 200;

/**
 * Runs a package client to its end, however that comes: with the signal it is killed and the signal's reason
 * thrown. A command that does not exist ends with status 127. On Linux the kernel kills it when this process dies.
 */
export async function runClient(
  command: readonly string[],
  args: readonly string[],
  watch: ClientWatch,
): Promise<ClientRun> {
  watch.signal.throwIfAborted();
  const [name, ...fixed] = command;
  if (name === undefined) return { status: 127, output: "", silent: false };
  const tied = await tiedToOurLife(name, [...fixed, ...args], watch.env);
  watch.signal.throwIfAborted();
  const child = spawn(tied.program, tied.args, {
    env: watch.env,
    ...(watch.cwd === undefined ? {} : { cwd: watch.cwd }),
    stdio: ["ignore", "pipe", "pipe"],
    // Its own group, so that what it started ends with it.
    detached: process.platform !== "win32",
    windowsHide: true,
  });
  const run: ClientRun = { status: null, output: "", silent: false };
  let lastSign = performance.now();
  let bytes = 0;
  const note = (text: string) => {
    run.output = (run.output + text).slice(-KEPT_OUTPUT);
    lastSign = performance.now();
  };
  child.stdout.setEncoding("utf8").on("data", note);
  child.stderr.setEncoding("utf8").on("data", note);
  const abort = () => killGroup(child);
  watch.signal.addEventListener("abort", abort, { once: true });
  const timer = setInterval(async () => {
    const size = (await watch.bytesSoFar?.()) ?? 0;
    if (size > bytes) {
      bytes = size;
      lastSign = performance.now();
      watch.downloaded?.(bytes);
    }
    if (performance.now() - lastSign > watch.quietMs(run.output)) {
      run.silent = true;
      killGroup(child);
    }
  }, WATCH_MS);
  try {
    run.status = await new Promise<number | null>((resolve, reject) => {
      child.on("close", resolve);
      child.on("error", (error) => {
        if (["ENOENT", "EACCES"].includes(errorCode(error))) resolve(127);
        else reject(error);
      });
    });
  } finally {
    clearInterval(timer);
    watch.signal.removeEventListener("abort", abort);
  }
  watch.signal.throwIfAborted();
  return run;
}

/** A failure's own words, cut to what a message can hold. */
export function lastWords(run: ClientRun, said: string | undefined): string {
  const lines = run.output.split(/\r?\n/).filter((line) => line.trim() !== "");
  return (said ?? lines.at(-1) ?? "it said nothing").trim().slice(0, 300);
}
