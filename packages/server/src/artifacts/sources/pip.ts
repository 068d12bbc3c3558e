import { spawn } from "node:child_process";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { killGroup, tiedToOurLife } from "../../processes/index.js";
import { errorCode } from "../failure.js";

/** A way to start pip. */
export interface Pip {
  command: readonly string[];
  version: string;
}

/** How a run of pip ended. */
export interface PipRun {
  /** Exit status; null when it was killed. */
  status: number | null;
  /** The end of what it printed, both streams in the order they came. */
  output: string;
  /** Killed because nothing happened for too long. */
  silent: boolean;
}

const KEPT_OUTPUT = 64 * 1024;
/** A loaded machine may take seconds to start Python, which says nothing about the network. */
export const PIP_START_MS = 20_000;
const WATCH_MS = 200;

/** The first pip that answers, or null. `configured` is the only one tried when it is given. */
export async function findPip(
  configured: readonly string[] | undefined,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<Pip | null> {
  // Python first: a wrapper script named pip may start pip as its child, which would outlive a killed server.
  const usual = [["python3", "-m", "pip"], ["python", "-m", "pip"], ["pip3"], ["pip"]];
  if (process.platform === "win32") usual.unshift(["py", "-m", "pip"]);
  for (const command of configured ? [configured] : usual) {
    const { status, output } = await runPip(command, ["--version"], {
      env,
      signal,
      quietMs: () => PIP_START_MS,
    });
    const version = /^pip (\S+)/m.exec(output)?.[1];
    if (status === 0 && version) return { command, version };
  }
  return null;
}

/** How a run of pip is watched. */
export interface PipWatch {
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
  /** Its folder for temporary files: watched for a growing download, and counted as a sign of life. */
  tempDir?: string;
  /** Hears the bytes of the download so far. */
  downloaded?: (bytes: number) => void;
  /** How long it may now keep silent, given what it printed so far. */
  quietMs: (output: string) => number;
}

/**
 * Runs pip to its end, however that comes: with the signal it is killed and the signal's reason thrown.
 * A command that does not exist ends with status 127. On Linux the kernel kills pip when this process dies.
 */
export async function runPip(
  command: readonly string[],
  args: readonly string[],
  watch: PipWatch,
): Promise<PipRun> {
  watch.signal.throwIfAborted();
  const [name, ...fixed] = command;
  if (name === undefined) return { status: 127, output: "", silent: false };
  const tied = await tiedToOurLife(name, [...fixed, ...args], watch.env);
  watch.signal.throwIfAborted();
  const child = spawn(tied.program, tied.args, {
    env: watch.env,
    stdio: ["ignore", "pipe", "pipe"],
    // Its own group, so that a build that pip started ends with it.
    detached: process.platform !== "win32",
    windowsHide: true,
  });
  const run: PipRun = { status: null, output: "", silent: false };
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
    const size = watch.tempDir === undefined ? 0 : await downloadSize(watch.tempDir);
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

/** pip downloads into `pip-unpack-*` of its temporary folder and copies the finished file from there. */
async function downloadSize(tempDir: string): Promise<number> {
  let largest = 0;
  for (const folder of await names(tempDir)) {
    if (!folder.startsWith("pip-unpack-")) continue;
    for (const file of await names(join(tempDir, folder))) {
      const found = await stat(join(tempDir, folder, file)).catch(() => null);
      if (found?.isFile()) largest = Math.max(largest, found.size);
    }
  }
  return largest;
}

/** Names in a folder that may vanish meanwhile. */
async function names(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}
