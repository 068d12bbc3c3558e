import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { killGroup, type ParentDeath, tiedToOurLife } from "../../processes/index.js";
import { type FromKeeper, PROTOCOL_VERSION, type ToKeeper } from "./protocol.js";
import { within } from "./within.js";

/** How long a fresh process may take to report, ms. */
const HELLO_MS = 15_000;
/** How long it may take to end by itself, ms. */
const END_MS = 2_000;
/** Its last words that are kept, in characters, and how long after its end they are waited for, ms. */
const LAST_WORDS = 2_000;
const LAST_WORDS_MS = 200;

/** All that the process needs of our environment: no secret is among them. */
const ENVIRONMENT = ["PATH", "LD_LIBRARY_PATH", "SystemRoot", "TEMP", "TMPDIR"];

/** A keeper process that reported. */
export interface KeeperProcess {
  readonly pid: number;
  readonly parentDeath: ParentDeath;
  readonly hello: Extract<FromKeeper, { type: "hello" }>;
  /** Resolves once it is gone, with why, a phrase: "was killed (SIGKILL)". Never rejects. */
  readonly exited: Promise<string>;
  send(message: ToKeeper): void;
  /** Ends it, by force after 2 s, and resolves when it is gone. May be called again. */
  end(): Promise<void>;
}

/**
 * Starts a keeper process, tied to our life. Call it from the main thread: the tie follows the thread.
 * @param program the process's own code; null for the one that belongs to this file
 * @param onMessage gets all but its report
 * @throws Error with why it did not come up, or the reason of `signal`
 */
export async function startKeeperProcess(
  program: string | null,
  onMessage: (message: FromKeeper) => void,
  signal: AbortSignal,
): Promise<KeeperProcess> {
  const env: NodeJS.ProcessEnv = {};
  for (const name of ENVIRONMENT) {
    if (process.env[name] !== undefined) env[name] = process.env[name];
  }
  const tied = await tiedToOurLife(process.execPath, [], env);
  signal.throwIfAborted();
  const child = fork(program ?? fileURLToPath(new URL("child/main.js", import.meta.url)), {
    execPath: tied.program,
    execArgv: tied.args,
    env,
    serialization: "advanced",
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    // A group of its own: Ctrl-C in a terminal is a wish to the server.
    detached: process.platform !== "win32",
  });
  let lastWords = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    lastWords = (lastWords + text).slice(-LAST_WORDS);
  });
  const told = new Promise<void>((resolve) => child.stderr?.once("close", resolve));
  const exited = new Promise<string>((resolve) => {
    child.on("error", (error) => {
      // A process that never came to be does not end; other errors are of one that runs.
      if (child.pid === undefined) resolve(`could not be started (${error.message})`);
    });
    child.once("exit", async (code, how) => {
      await within(LAST_WORDS_MS, told);
      resolve(manner(code, how, lastWords));
    });
  });

  const end = async () => {
    if (child.connected) child.disconnect();
    const patience = setTimeout(() => killGroup(child), END_MS);
    await exited;
    clearTimeout(patience);
  };
  try {
    const hello = await firstMessage(child, exited, signal);
    if (hello.type !== "hello" || hello.version !== PROTOCOL_VERSION) {
      throw new Error("speaks another version than this server");
    }
    child.on("message", onMessage);
    return {
      pid: child.pid as number,
      parentDeath: tied.parentDeath,
      hello,
      exited,
      send: (message) => {
        // What does not arrive is told by the exit.
        if (child.connected) child.send(message, () => {});
      },
      end,
    };
  } catch (error) {
    killGroup(child);
    await exited;
    throw error;
  }
}

function firstMessage(
  child: ChildProcess,
  exited: Promise<string>,
  signal: AbortSignal,
): Promise<FromKeeper> {
  return new Promise((resolve, reject) => {
    const limit = setTimeout(
      () => settle(() => reject(new Error(`did not report within ${HELLO_MS / 1000} s`))),
      HELLO_MS,
    );
    const onMessage = (message: unknown) => settle(() => resolve(message as FromKeeper));
    const onAbort = () => settle(() => reject(signal.reason));
    const settle = (how: () => void) => {
      clearTimeout(limit);
      child.off("message", onMessage);
      signal.removeEventListener("abort", onAbort);
      how();
    };
    child.once("message", onMessage);
    signal.addEventListener("abort", onAbort, { once: true });
    exited.then((why) => settle(() => reject(new Error(why))));
  });
}

function manner(code: number | null, signal: string | null, lastWords: string): string {
  const words = lastWords.trim() === "" ? "" : `: ${lastWords.trim()}`;
  if (signal === "SIGBUS") return `was ended by the system (SIGBUS): a kept file failed under it`;
  if (signal !== null) return `was killed (${signal})${words}`;
  return `ended with status ${code}${words}`;
}
