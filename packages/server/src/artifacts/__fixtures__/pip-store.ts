import { createPackageStore, type PackageStore } from "./package-store.js";

export interface PipStore extends PackageStore {
  /** For `createArtifacts`. */
  options: { pip: string[]; env: NodeJS.ProcessEnv };
}

/** A folder of distributions and a program that hands them out as pip would. */
export async function createPipStore(): Promise<PipStore> {
  const { store, command, env } = await createPackageStore("fake-pip.mjs");
  return { ...store, options: { pip: command, env } };
}
