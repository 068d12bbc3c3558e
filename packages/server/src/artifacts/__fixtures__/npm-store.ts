import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { create } from "tar";
import { tempDir } from "./temp-dir.js";

/** How the fake npm treats a package; "*" stands for all. */
export type NpmBehaviour = Record<
  string,
  { print?: string[]; status?: number; hang?: "before" | "during" }
>;

export interface NpmStore {
  dir: string;
  /** For `createArtifacts`. */
  options: { npm: string[]; env: NodeJS.ProcessEnv };
  behave(behaviour: NpmBehaviour): Promise<void>;
  calls(): Promise<{ pid: number; args: string[]; cwd: string }[]>;
  /** Adds a package whose files stand under `top`. */
  add(
    name: string,
    version: string,
    members: { name: string; content: Buffer }[],
    top?: string,
  ): Promise<string>;
}

/** A folder of packages and a program that packs them as npm would. */
export async function createNpmStore(): Promise<NpmStore> {
  const dir = await tempDir();
  const program = fileURLToPath(new URL("./fake-npm.mjs", import.meta.url));
  const behave = (behaviour: NpmBehaviour) =>
    writeFile(join(dir, "behaviour.json"), JSON.stringify(behaviour));
  await behave({});
  return {
    dir,
    options: {
      npm: [process.execPath, program],
      env: { ...process.env, FAKE_NPM_STORE: dir },
    },
    behave,
    async calls() {
      const log = await readFile(join(dir, "calls.log"), "utf8").catch(() => "");
      return log
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as { pid: number; args: string[]; cwd: string });
    },
    async add(name, version, members, top = "package") {
      const cwd = await tempDir();
      for (const member of members) {
        const path = join(cwd, top, member.name);
        await mkdir(dirname(path), { recursive: true });
        await writeFile(path, member.content);
      }
      const file = join(dir, `${name.replace(/^@/, "").replace("/", "-")}-${version}.tgz`);
      await create({ cwd, file, gzip: true, portable: true }, [top]);
      return file;
    },
  };
}
