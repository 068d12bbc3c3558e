import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { compiledRooms } from "./other-process/index.js";

/** The code of the keeper process, compiled for all tests of a file; the function gives its path. */
export function compiledKeeper(): () => string {
  const folder = compiledRooms(["memory/keeper/child/main.ts"], "koffi");
  return () => join(folder(), "memory/keeper/child/main.js");
}

/** The processes of this test process that run a program, by Linux's files. */
export async function processesOf(program: string): Promise<number[]> {
  const found: number[] = [];
  for (const thread of await readdir("/proc/self/task")) {
    const children = await readFile(`/proc/self/task/${thread}/children`, "latin1").catch(() => "");
    for (const pid of children.split(/\s+/).filter(Boolean)) {
      const line = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
      if (line.split("\0").includes(program)) found.push(Number(pid));
    }
  }
  return found;
}
