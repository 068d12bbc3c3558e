import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { create } from "tar";
import { createPackageStore, type PackageStore } from "./package-store.js";
import { tempDir } from "./temp-dir.js";

export interface NpmStore extends PackageStore {
  /** For `createArtifacts`. */
  options: { npm: string[]; env: NodeJS.ProcessEnv };
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
  const { store, command, env } = await createPackageStore("fake-npm.mjs");
  return {
    ...store,
    options: { npm: command, env },
    async add(name, version, members, top = "package") {
      const cwd = await tempDir();
      for (const member of members) {
        const path = join(cwd, top, member.name);
        await mkdir(dirname(path), { recursive: true });
        await writeFile(path, member.content);
      }
      const file = join(store.dir, `${name.replace(/^@/, "").replace("/", "-")}-${version}.tgz`);
      await create({ cwd, file, gzip: true, portable: true }, [top]);
      return file;
    },
  };
}
