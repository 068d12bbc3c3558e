import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { engineEnvironment } from "../engine-environment.js";
import { killGroup, tiedToOurLife } from "../run-program.js";
import { TINY_ANSWER, TINY_PROMPT, tinyModel } from "./tiny-model.js";

/** Generous: a first start on an accelerator may compile kernels. */
const SMOKE_TIMEOUT_MS = 60_000;
const POLL_MS = 25;
const MAX_PATH_OF_SOCKET = 103;
const LOG_LINES = 12;
const CONTEXT_TOKENS = 256;

/** Where a server listens: a socket file, or a port of the loopback interface. */
type Address = { socketPath: string } | { host: string; port: number };

/**
 * Starts the program with a generated model of a few kilobytes and asks it for one token. Gives
 * null when the answer is the right one, else why the program cannot be used (for people). The
 * process, its socket and its folder are gone when this settles.
 * @throws the signal's reason when it fires
 */
export async function smokeTest(
  program: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
  timeoutMs: number = SMOKE_TIMEOUT_MS,
): Promise<string | null> {
  signal.throwIfAborted();
  const folder = await mkdtemp(join(tmpdir(), "somnus-smoke-"));
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  try {
    return await tryOut(program, folder, env, limit);
  } catch (error) {
    signal.throwIfAborted();
    if (limit.aborted) return `it did not answer a test model within ${timeoutMs / 1000} seconds`;
    return `it failed on a test model (${error instanceof Error ? error.message : String(error)})`;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function tryOut(
  program: string,
  folder: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<string | null> {
  const model = join(folder, "tiny.gguf");
  await writeFile(model, tinyModel());
  const address = await freeAddress(folder);
  const key = randomBytes(16).toString("hex");
  const [command, ...args] = await tiedToOurLife(
    [program, ...serverArguments(model, address, key)],
    env,
  );
  const child = spawn(command as string, args, {
    cwd: folder,
    env: engineEnvironment(env),
    stdio: ["ignore", "pipe", "pipe"],
    detached: process.platform !== "win32",
    windowsHide: true,
  });
  const log = keepTail(child);
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const failed = new AbortController();
  child.once("error", (error) => failed.abort(error));
  child.once("exit", (code, by) => failed.abort(new Error(exitText(code, by, log))));
  try {
    const until = AbortSignal.any([signal, failed.signal]);
    await ready(address, key, until);
    const answer = await ask(address, key, "/completion", until, {
      prompt: TINY_PROMPT,
      n_predict: 1,
      temperature: 0,
    });
    const text = contentOf(answer.body);
    if (text === TINY_ANSWER) return null;
    return `it computes wrongly: a test model gave ${JSON.stringify(text)} (status ${answer.status})`;
  } catch (error) {
    if (!signal.aborted && failed.signal.aborted) throw failed.signal.reason;
    throw error;
  } finally {
    killGroup(child);
    child.stdout?.destroy();
    child.stderr?.destroy();
    if (child.pid !== undefined) await closed;
  }
}

function serverArguments(model: string, address: Address, key: string): string[] {
  const listen =
    "socketPath" in address
      ? ["--host", address.socketPath]
      : ["--host", address.host, "--port", String(address.port)];
  return [
    ...["--model", model, ...listen, "--api-key", key, "--offline", "--no-ui", "--jinja"],
    ...["--fit", "off", "--kv-unified", "--no-cache-idle-slots", "--cache-ram", "0"],
    ...["--ctx-size", String(CONTEXT_TOKENS), "--parallel", "1", "--threads", "1"],
  ];
}

async function freeAddress(folder: string): Promise<Address> {
  const socketPath = join(folder, "smoke.sock");
  if (process.platform !== "win32" && Buffer.byteLength(socketPath) <= MAX_PATH_OF_SOCKET) {
    return { socketPath };
  }
  const host = "127.0.0.1";
  const server = createServer().listen(0, host);
  await once(server, "listening");
  const bound = server.address();
  server.close();
  await once(server, "close");
  if (bound === null || typeof bound === "string") throw new Error("no free port on loopback");
  return { host, port: bound.port };
}

/** Waits until the server says that its model is loaded. @throws the signal's reason when it fires */
async function ready(address: Address, key: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    try {
      if ((await ask(address, key, "/health", signal)).status === 200) return;
    } catch {
      signal.throwIfAborted();
    }
    await delay(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
}

function ask(
  address: Address,
  key: string,
  path: string,
  signal: AbortSignal,
  body?: unknown,
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const method = body === undefined ? "GET" : "POST";
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const sent = request({ ...address, path, method, headers, signal, agent: false }, (reply) => {
      let text = "";
      reply.setEncoding("utf8");
      reply.on("data", (part: string) => {
        if (text.length < 1_000_000) text += part;
      });
      reply.on("error", reject);
      reply.on("end", () => resolve({ status: reply.statusCode ?? 0, body: text }));
    });
    sent.on("error", reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

function contentOf(body: string): unknown {
  try {
    const answer: unknown = JSON.parse(body);
    if (typeof answer === "object" && answer !== null && "content" in answer) return answer.content;
  } catch {
    // Falls through: the text itself is what is wrong with it.
  }
  return body.slice(0, 200);
}

function keepTail(child: ChildProcess): string[] {
  const lines: string[] = [];
  for (const output of [child.stdout, child.stderr]) {
    output?.setEncoding("utf8");
    output?.on("error", () => undefined);
    output?.on("data", (text: string) => {
      lines.push(...text.split("\n").filter((line) => line.trim() !== ""));
      lines.splice(0, Math.max(0, lines.length - LOG_LINES));
    });
  }
  return lines;
}

function exitText(code: number | null, by: NodeJS.Signals | null, log: string[]): string {
  if (by === "SIGILL") return "illegal instruction: it was built for another processor";
  const how = by === null ? `exit status ${code}` : by;
  const last = log[log.length - 1];
  return last === undefined ? `it ended with ${how}` : `it ended with ${how}: ${last.trim()}`;
}
