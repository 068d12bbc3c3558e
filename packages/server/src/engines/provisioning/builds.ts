import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { type Candidate, unchangedProgram } from "./accept.js";
import type { EngineBinary } from "./binary.js";
import { RECEIPT } from "./way.js";

/** A program that was accepted at some time and is still there, unchanged. */
export interface InstalledBuild {
  binary: EngineBinary;
  receiptFile: string;
  /** Its own folder among the engines; null for a program that is somewhere else. */
  folder: string | null;
}

const FOLDER = /^\d+-([a-z0-9]+)-([a-z0-9]+)-/;

/** The programs that an engine's folder knows for this machine, the newest build first. */
export async function readBuilds(root: string): Promise<InstalledBuild[]> {
  const names = async (folder: string) => readdir(folder).catch(() => []);
  const own = (await names(root)).filter((name) => {
    const [, os, arch] = FOLDER.exec(name) ?? [];
    return os === process.platform && arch === process.arch;
  });
  const elsewhere = (await names(join(root, "accepted"))).filter((name) => name.endsWith(".json"));
  const places = [
    ...own.map((name) => ({
      receiptFile: join(root, name, RECEIPT),
      folder: join(root, name),
    })),
    ...elsewhere.map((name) => ({ receiptFile: join(root, "accepted", name), folder: null })),
  ];
  const builds = await Promise.all(
    places.map(async (place): Promise<InstalledBuild | null> => {
      const binary = await unchangedProgram(place.receiptFile);
      return binary === null ? null : { ...place, binary };
    }),
  );
  return builds
    .filter((build): build is InstalledBuild => build !== null)
    .sort(
      (a, b) =>
        (b.binary.build ?? 0) - (a.binary.build ?? 0) || a.binary.path.localeCompare(b.binary.path),
    );
}

/** An installed build as it is accepted again. */
export function candidateOf({ binary, receiptFile }: InstalledBuild): Candidate {
  return { path: binary.path, origin: binary.origin, receiptFile };
}
