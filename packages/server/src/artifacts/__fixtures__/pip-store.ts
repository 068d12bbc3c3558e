import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { tempDir } from "./temp-dir.js";

/** How the fake pip treats a project; "*" stands for all. */
export type Behaviour = Record<
  string,
  { print?: string[]; status?: number; hang?: "before" | "during" }
>;

export interface PipStore {
  dir: string;
  /** For `createArtifacts`. */
  options: { pip: string[]; env: NodeJS.ProcessEnv };
  behave(behaviour: Behaviour): Promise<void>;
  calls(): Promise<{ pid: number; args: string[] }[]>;
}

/** A folder of distributions and a program that hands them out as pip would. */
export async function createPipStore(): Promise<PipStore> {
  const dir = await tempDir();
  const program = fileURLToPath(new URL("./fake-pip.mjs", import.meta.url));
  const behave = (behaviour: Behaviour) =>
    writeFile(join(dir, "behaviour.json"), JSON.stringify(behaviour));
  await behave({});
  return {
    dir,
    options: {
      pip: [process.execPath, program],
      env: { ...process.env, FAKE_PIP_STORE: dir },
    },
    behave,
    async calls() {
      const log = await readFile(join(dir, "calls.log"), "utf8").catch(() => "");
      return log
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as { pid: number; args: string[] });
    },
  };
}
