import { join } from "node:path";
import Type, { type Static } from "typebox";
import { replaceJson } from "../../../files/index.js";
import { readShaped } from "../read-shaped.js";

/** What the first download of a file was, where nobody had said it before. */
const Pin = Type.Object({
  size: Type.Number(),
  sha256: Type.String({ pattern: "^[0-9a-f]{64}$" }),
});
export type Pin = Static<typeof Pin>;

const Pins = Type.Object({
  pins_version: Type.Literal(1),
  /** By file name; release files carry the build's number in theirs, see `pinKey`. */
  files: Type.Record(Type.String(), Pin),
});

/** The pins outlive the builds: a build that is removed and fetched again must be the same. */
function pinsFile(root: string): string {
  return join(root, "pins.json");
}

/** Key of a file of a build: some names are the same in every build. */
export function pinKey(number: number, file: string): string {
  return `${number}/${file}`;
}

/** The pin of a file, or null. */
export async function readPin(root: string, key: string): Promise<Pin | null> {
  return (await readShaped(pinsFile(root), Pins))?.files[key] ?? null;
}

/** Keeps a pin. Call it only while holding the build lock. @throws the system's error when it cannot be written */
export async function writePin(root: string, key: string, pin: Pin): Promise<void> {
  const files = (await readShaped(pinsFile(root), Pins))?.files ?? {};
  await replaceJson(pinsFile(root), { pins_version: 1, files: { ...files, [key]: pin } });
}
