import { watch } from "node:fs";
import { chmod, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** How an engine ends itself: by a code, else by a signal (SIGKILL), after printing the lines. */
export interface FakeDeath {
  code?: number;
  signal?: string;
  lines?: string[];
}

/**
 * A moment of a request: before its first prefill batch, before the token of that index (0 is the
 * first), after the last one, or, for a hang, before the answer's head.
 */
export type FakeMoment = number | "prefill" | "end" | "request";

/**
 * What a fake engine does. Read at its launch and at each request, so it can be changed while it
 * runs. A prompt may ask for itself: `[[say:text]]`, `[[think:text]]`, `[[tokens:N]]`, `[[rate:N]]`,
 * `[[die]]`, `[[die:N]]`, `[[die:prefill]]`, `[[oom]]`, `[[hang]]`, `[[stall]]` (same values) and
 * `[[lie:how]]`.
 */
export interface FakeScript {
  load?: {
    /** Duration of the load. */
    ms?: number;
    hang?: boolean;
    die?: FakeDeath;
    /** Printed while it loads. */
    lines?: string[];
  };
  /** Answer text; absent: the last user message, or a small object where JSON was asked for. */
  answer?: string;
  /** Thinking before the answer. */
  reasoning?: string;
  /** Calls after the answer, where tools were offered and no schema was given. */
  calls?: { name: string; arguments: string }[];
  /**
   * What differs from turn to turn of an agent's loop: the first for a conversation without calls, the next
   * for one with one message of calls, and so on; the last one stays.
   */
  turns?: Pick<FakeScript, "answer" | "reasoning" | "calls">[];
  /** Whether the template says that it can think. */
  thinking?: boolean;
  templateCaps?: Record<string, boolean>;
  /** Absent: as fast as it goes. */
  tokensPerSecond?: number;
  prefillTokensPerSecond?: number;
  die?: FakeDeath & { at: FakeMoment };
  hang?: { at: FakeMoment };
  /** Silence, then going on. */
  stall?: { at: FakeMoment; ms: number };
  lie?:
    | "usage"
    | "json"
    | "half-event"
    | "close"
    | "utf8"
    | "error-event"
    | "http-500"
    | "exceed-context";
  /** What it does when a slot is saved, restored or emptied, and the least size of a saved one. */
  slots?: {
    /** `cut`: it says that all is written, and it is not. */
    save?: "hang" | "fail" | "die" | "cut";
    restore?: "hang" | "fail" | "die";
    erase?: "hang" | "fail";
    bytes?: number;
  };
  /** What it does when it is asked for vectors; absent: they come at once. */
  vectors?: { ms?: number; hang?: boolean; oom?: boolean; lie?: "nan" | "missing" };
  /** Prints no log line of its own. */
  silent?: boolean;
  /** Stays when asked to end. */
  ignoreTerm?: boolean;
  /** Accelerators that `--list-devices` names. */
  devices?: string[];
}

/** One thing that a fake engine did. */
export interface FakeEvent {
  event:
    | "start"
    | "ready"
    | "request"
    | "slot"
    | "hang"
    /** Its reader does not keep up. */
    | "full"
    | "disconnect"
    | "finish"
    | "free"
    | "terminate"
    | "death";
  /** Unix time in ms. */
  at: number;
  pid: number;
  slot?: number;
  /** What was done with a slot: save, restore or erase. */
  action?: string;
  args?: string[];
  env?: Record<string, string | null>;
  body?: Record<string, unknown>;
  promptTokens?: number;
  /** Prompt tokens read, cached ones included. */
  prefilled?: number;
  /** Tokens generated. */
  tokens?: number;
  reason?: string;
  code?: number | null;
  signal?: string | null;
}

export interface FakeEngine {
  /** Executable that stands for llama-server; script and journal are bound to it. */
  readonly path: string;
  /** The same binding as variables, for a launch of one's own. */
  readonly env: Record<string, string>;
  /** Replaces what it is told. */
  script(script: FakeScript): Promise<void>;
  /** What it did so far, oldest first. */
  journal(): Promise<FakeEvent[]>;
  /**
   * Waits for an event, or finds it in the journal from the entry with that index on.
   * @throws when it does not happen in time (10 s)
   */
  happened(test: (event: FakeEvent) => boolean, from?: number): Promise<FakeEvent>;
  /** Removes its files. Processes are those of who started them. */
  dispose(): Promise<void>;
}

const PROGRAM = fileURLToPath(new URL("./fake-engine.mjs", import.meta.url));
const PATIENCE_MS = 10_000;

/** A fake engine of one's own, in a temporary folder. */
export async function createFakeEngine(first: FakeScript = {}): Promise<FakeEngine> {
  const folder = await mkdtemp(join(tmpdir(), "fake-engine-"));
  const path = join(folder, "llama-server");
  const scriptPath = join(folder, "script.json");
  const journalPath = join(folder, "journal.jsonl");
  const env = { FAKE_ENGINE_SCRIPT: scriptPath, FAKE_ENGINE_JOURNAL: journalPath };
  await writeFile(journalPath, "");
  const assignments = Object.entries(env).map(([name, value]) => `export ${name}=${quoted(value)}`);
  const command = `exec ${quoted(process.execPath)} ${quoted(PROGRAM)} "$@"`;
  await writeFile(path, ["#!/bin/sh", ...assignments, command, ""].join("\n"));
  await chmod(path, 0o755);

  const engine: FakeEngine = {
    path,
    env,
    async script(script) {
      await writeFile(`${scriptPath}.new`, JSON.stringify(script));
      await rename(`${scriptPath}.new`, scriptPath);
    },
    async journal() {
      const lines = (await readFile(journalPath, "utf8")).split("\n");
      return lines.slice(0, -1).map((line) => JSON.parse(line) as FakeEvent);
    },
    async happened(test, from = 0) {
      const patience = AbortSignal.timeout(PATIENCE_MS);
      const watcher = watch(journalPath);
      try {
        for (;;) {
          const changed = new Promise<void>((resolve) => {
            watcher.once("change", () => resolve());
            patience.addEventListener("abort", () => resolve(), { once: true });
          });
          const found = (await engine.journal()).slice(from).find(test);
          if (found) return found;
          if (patience.aborted) {
            throw new Error(`it did not happen: ${JSON.stringify(await engine.journal())}`);
          }
          await changed;
        }
      } finally {
        watcher.close();
      }
    },
    dispose: () => rm(folder, { recursive: true, force: true }),
  };
  await engine.script(first);
  return engine;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
