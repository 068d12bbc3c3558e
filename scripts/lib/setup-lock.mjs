import { randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

const BEAT_MS = 5_000;
/** A holder beats every 5 s; one that was silent this long is gone, or is another process by now. */
const SILENT_MS = 120_000;
/** A lock folder without an owner file is one that is being made, or whose maker died at once. */
const OWNERLESS_MS = 5_000;
const LOOK_AGAIN_MS = 100;

/**
 * Runs `work` while no other set-up of this checkout runs; waits for one that does. The lock of a
 * process that died is taken over. A process that is killed leaves a lock that the next takes over.
 * @template T
 * @param {string} root
 * @param {(text: string) => void} say
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withSetupLock(root, say, work) {
  const folder = join(root, ".setup", "lock");
  const token = await acquire(folder, say);
  const beat = setInterval(() => touch(folder), BEAT_MS);
  beat.unref();
  try {
    return await work();
  } finally {
    clearInterval(beat);
    if (ownerOf(folder)?.token === token) rmSync(folder, { recursive: true, force: true });
  }
}

async function acquire(folder, say) {
  const token = randomUUID();
  let told = false;
  for (;;) {
    if (make(folder)) {
      const owner = { pid: process.pid, host: hostname(), token };
      writeFileSync(join(folder, "owner.json"), JSON.stringify(owner));
      return token;
    }
    if (isStale(folder)) {
      removeStale(folder);
    } else if (!told) {
      told = true;
      say(
        `another set-up of this folder is running (process ${ownerOf(folder)?.pid ?? "unknown"}); waiting for it\n`,
      );
    }
    await wait(LOOK_AGAIN_MS);
  }
}

/**
 * Removes a stale lock under a second, short-lived lock: of two that found it stale at once, the
 * later must not remove the fresh lock of the earlier.
 */
function removeStale(folder) {
  const guard = `${folder}.takeover`;
  if (!make(guard)) {
    if (ageMs(guard) > OWNERLESS_MS) rmSync(guard, { recursive: true, force: true });
    return;
  }
  try {
    if (isStale(folder)) rmSync(folder, { recursive: true, force: true });
  } finally {
    rmSync(guard, { recursive: true, force: true });
  }
}

function isStale(folder) {
  const silent = ageMs(folder);
  const owner = ownerOf(folder);
  if (owner === undefined) return silent > OWNERLESS_MS;
  return silent > SILENT_MS || (owner.host === hostname() && !isAlive(owner.pid));
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

function ownerOf(folder) {
  try {
    return JSON.parse(readFileSync(join(folder, "owner.json"), "utf8"));
  } catch {
    return undefined;
  }
}

/** Milliseconds since the last sign of life; 0 when the folder is gone. */
function ageMs(folder) {
  const stat = statSync(folder, { throwIfNoEntry: false });
  return stat === undefined ? 0 : Date.now() - stat.mtimeMs;
}

function touch(folder) {
  try {
    utimesSync(folder, new Date(), new Date());
  } catch {
    // A missed beat costs nothing while this process lives; failing the set-up over it would.
  }
}

function make(folder) {
  try {
    mkdirSync(join(folder, ".."), { recursive: true });
    mkdirSync(folder);
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
}
