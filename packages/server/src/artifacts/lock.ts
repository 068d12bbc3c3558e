import { randomBytes } from "node:crypto";
import { mkdir, readdir, rename, rmdir, stat, unlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { errorCode } from "../files/index.js";
import {
  livenessOf,
  ownIdentity,
  type ProcessIdentity,
  readIdentity,
  writeIdentity,
} from "../processes/index.js";

const POLL_MS = 100;
const BEAT_MS = 5_000;
/** Polls without a sign of life after which an owner whose process cannot be looked up counts as dead. */
const SILENT_POLLS = 300;

/** Nobody leaves at the wrong moment so many times: the folder's own place has gone. */
const MOST_TRIES = 1_000;

/** A place in the queue. Its whole content is its file name, so it is never seen half-written. */
interface Ticket extends ProcessIdentity {
  file: string;
  /** 0 while the process still draws its number. */
  number: number;
}

/**
 * Runs `work` while no other process and no other caller holds the lock at `path`, which is a folder
 * that exists only while someone holds or waits. Its own code because proper-lockfile judges an owner by the
 * age of a file: a blocked event loop or a suspended laptop loses the lock, and a killed owner keeps it.
 *
 * The order is Lamport's bakery (Communications of the ACM 17/8, 1974): everybody draws a numbered ticket
 * and the lowest one of a living process holds the lock. A ticket name is never used twice, so anyone may
 * clear a dead one away without a race. A dead owner is seen at once where its process can be looked up (same
 * machine and container, Linux), and after 30 s without a heartbeat elsewhere.
 *
 * `onWait` hears once for each holder that is waited for (null: not known yet). Throws the signal's reason
 * when aborted while waiting, and whatever `work` throws.
 */
export async function withLock<T>(
  path: string,
  options: { signal: AbortSignal; onWait?: (holder: { pid: number } | null) => void },
  work: () => Promise<T>,
): Promise<T> {
  options.signal.throwIfAborted();
  const ticket = await drawTicket(path);
  const beat = setInterval(() => {
    const now = new Date();
    // A ticket that cannot be touched is still valid where its process can be looked up.
    utimes(join(path, ticket.file), now, now).catch(() => {});
  }, BEAT_MS);
  beat.unref();
  try {
    await waitForTurn(path, ticket, options);
    return await work();
  } finally {
    clearInterval(beat);
    await leave(path, ticket.file);
  }
}

/**
 * Clears away what killed owners left at `path`, without waiting for anybody who lives. Never throws: it is only
 * tidying, and the folder may be read-only.
 */
export async function removeDeadLock(path: string): Promise<void> {
  try {
    for (const ticket of await readTickets(path)) {
      if ((await livenessOf(ticket)) !== "dead") return;
      await unlink(join(path, ticket.file));
    }
    await rmdir(path);
  } catch {
    // There is none, which is usual, or somebody tidied first.
  }
}

/** Who has a lock, for people; as `onWait` of `withLock` tells it. */
export function holderText(holder: { pid: number | null } | null): string {
  return holder?.pid == null ? "another process" : `process ${holder.pid}`;
}

async function drawTicket(path: string): Promise<Ticket> {
  const me = await ownIdentity();
  const id = `${writeIdentity(me)}.${randomBytes(6).toString("hex")}`;
  const drawing = `0.${id}`;
  await enter(path, drawing);
  try {
    const taken = (await readTickets(path)).map((ticket) => ticket.number);
    const number = Math.max(0, ...taken) + 1;
    const file = `${number}.${id}`;
    await rename(join(path, drawing), join(path, file));
    return { ...me, file, number };
  } catch (error) {
    await leave(path, drawing);
    throw error;
  }
}

/**
 * Creates the file, and the folder as often as a leaving process removes it in between: before the file is in it,
 * or while it is being made (then it is the making that fails).
 */
async function enter(path: string, file: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await mkdir(path, { recursive: true });
      await writeFile(join(path, file), "", { flag: "wx" });
      return;
    } catch (error) {
      if (errorCode(error) !== "ENOENT" || tries === MOST_TRIES) throw error;
    }
  }
}

async function leave(path: string, file: string): Promise<void> {
  await unlink(join(path, file)).catch(ignoring("ENOENT"));
  await rmdir(path).catch(ignoring("ENOENT", "ENOTEMPTY", "EEXIST", "EPERM", "EBUSY", "EACCES"));
}

async function waitForTurn(
  path: string,
  own: Ticket,
  options: { signal: AbortSignal; onWait?: (holder: { pid: number } | null) => void },
): Promise<void> {
  const silence = new Map<string, { beat: number; polls: number }>();
  let told: number | null | undefined;
  // A ticket renamed during a listing may be missing from it, but not from the next one as well.
  for (let clear = 0; clear < 2; ) {
    options.signal.throwIfAborted();
    const ahead = await firstAhead(path, own, silence);
    if (ahead === null) {
      clear += 1;
      continue;
    }
    clear = 0;
    const holder = ahead.number === 0 ? null : ahead.pid;
    if (holder !== told) {
      told = holder;
      options.onWait?.(holder === null ? null : { pid: holder });
    }
    await delay(POLL_MS, undefined, { signal: options.signal }).catch(() => {});
  }
  options.signal.throwIfAborted();
}

/** The living ticket that goes first of all those before `own`; dead ones are cleared away. */
async function firstAhead(
  path: string,
  own: Ticket,
  silence: Map<string, { beat: number; polls: number }>,
): Promise<Ticket | null> {
  const ahead = (await readTickets(path))
    .filter((ticket) => ticket.file !== own.file && goesBefore(ticket, own))
    .sort((a, b) => b.number - a.number);
  let first: Ticket | null = null;
  for (const ticket of ahead) {
    if (await isAlive(path, ticket, silence)) first = ticket;
    else await unlink(join(path, ticket.file)).catch(ignoring("ENOENT"));
  }
  return first;
}

function goesBefore(a: Ticket, b: Ticket): boolean {
  return a.number === b.number ? a.file < b.file : a.number < b.number;
}

async function isAlive(
  path: string,
  ticket: Ticket,
  silence: Map<string, { beat: number; polls: number }>,
): Promise<boolean> {
  const liveness = await livenessOf(ticket);
  if (liveness !== "unknown") return liveness === "alive";
  let beat: number;
  try {
    beat = (await stat(join(path, ticket.file))).mtimeMs;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false;
    throw error;
  }
  // Counted in polls, not by the clock: a suspended machine polls as little as its owners beat.
  const seen = silence.get(ticket.file);
  const polls = seen?.beat === beat ? seen.polls + 1 : 0;
  silence.set(ticket.file, { beat, polls });
  return polls < SILENT_POLLS;
}

async function readTickets(path: string): Promise<Ticket[]> {
  const tickets: Ticket[] = [];
  for (const file of await readdir(path)) {
    const [, number, owner = ""] = /^(\d+)\.(.+)\.[0-9a-f]{12}$/.exec(file) ?? [];
    const identity = readIdentity(owner);
    if (identity !== null) tickets.push({ ...identity, file, number: Number(number) });
  }
  return tickets;
}

function ignoring(...codes: string[]): (error: unknown) => void {
  return (error) => {
    if (!codes.includes(errorCode(error))) throw error;
  };
}
