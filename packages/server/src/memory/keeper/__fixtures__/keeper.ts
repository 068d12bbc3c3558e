import { randomBytes } from "node:crypto";
import { mkdtemp, open, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { createLog } from "../../../observe/index.js";
import type { KeeperEvent } from "../index.js";
import { createKeeper, type Keeper, type KeeperOptions } from "../index.js";

export const MiB = 1024 * 1024;

export interface TestKeeper {
  keeper: Keeper;
  /** All events so far. */
  events: KeeperEvent[];
  /** The next event of a kind that nobody has waited for yet. */
  event<T extends KeeperEvent["type"]>(type: T): Promise<Extract<KeeperEvent, { type: T }>>;
}

/** A keeper that is closed after the test. */
export function testKeeper(program: string, more: Partial<KeeperOptions> = {}): TestKeeper {
  const events: KeeperEvent[] = [];
  const seen = new Set<KeeperEvent>();
  let wake = () => {};
  const keeper = createKeeper({
    budgetBytes: 4096 * MiB,
    log: createLog("silent"),
    program,
    on: (event) => {
      events.push(event);
      wake();
    },
    ...more,
  });
  onTestFinished(() => keeper.close());
  return {
    keeper,
    events,
    async event(type) {
      for (;;) {
        const found = events.find((event) => event.type === type && !seen.has(event));
        if (found !== undefined) {
          seen.add(found);
          return found as never;
        }
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}

/** A folder that is removed after the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "somnus-kept-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A file of random bytes, on its disk. */
export async function fileOf(bytes: number, name = "weights.gguf"): Promise<string> {
  const path = join(await temporaryFolder(), name);
  const file = await open(path, "w");
  await file.writeFile(randomBytes(bytes));
  await file.sync();
  await file.close();
  return path;
}

/** A file that is slow to bring in: the system makes up page after page. It takes no disk. */
export async function slowFile(): Promise<string> {
  const path = join(await temporaryFolder(), "slow.gguf");
  await writeFile(path, "");
  await truncate(path, 1024 * MiB);
  return path;
}

/** What Linux says of a process: its locked bytes, and whether it maps a file. */
export async function seenFromOutside(
  pid: number,
  path: string,
): Promise<{ lockedBytes: number; mapsFile: boolean }> {
  const status = await readFile(`/proc/${pid}/status`, "latin1");
  const maps = await readFile(`/proc/${pid}/maps`, "utf8");
  return {
    lockedBytes: Number(/^VmLck:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024,
    mapsFile: maps.includes(path),
  };
}

/** A signal that is never given. */
export const never = new AbortController().signal;
