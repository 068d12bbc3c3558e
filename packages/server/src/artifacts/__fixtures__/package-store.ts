import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { tempDir } from "./temp-dir.js";

/** How the program treats a package; "*" stands for all. */
export type Behaviour = Record<
  string,
  { print?: string[]; status?: number; hang?: "before" | "during" }
>;

/** A folder of packages and a program that hands them out. */
export interface PackageStore {
  dir: string;
  behave(behaviour: Behaviour): Promise<void>;
  /** The calls of the program so far. */
  calls(): Promise<{ pid: number; args: string[]; cwd: string }[]>;
}

/** An empty store, with the command of its program and the environment that the program needs. */
export async function createPackageStore(
  program: "fake-npm.mjs" | "fake-pip.mjs",
): Promise<{ store: PackageStore; command: string[]; env: NodeJS.ProcessEnv }> {
  const dir = await tempDir();
  const behave = (behaviour: Behaviour) =>
    writeFile(join(dir, "behaviour.json"), JSON.stringify(behaviour));
  await behave({});
  return {
    store: {
      dir,
      behave,
      async calls() {
        const log = await readFile(join(dir, "calls.log"), "utf8").catch(() => "");
        return log
          .split("\n")
          .filter((line) => line !== "")
          .map((line) => JSON.parse(line) as { pid: number; args: string[]; cwd: string });
      },
    },
    command: [process.execPath, fileURLToPath(new URL(program, import.meta.url))],
    env: { ...process.env, FAKE_PACKAGE_STORE: dir },
  };
}
