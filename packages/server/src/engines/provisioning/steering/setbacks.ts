import { rm } from "node:fs/promises";
import { join } from "node:path";
import Type, { type Static } from "typebox";
import { replaceJson } from "../../../files/index.js";
import type { EngineBinary } from "../binary.js";
import { readShaped } from "../read-shaped.js";

/** A build that is passed over because its engines crashed. */
const Setback = Type.Object({
  build: Type.String(),
  /** SHA-256 of its program: another program under the same id starts anew. */
  digest: Type.String(),
  /** For people: how its engines ended. */
  reason: Type.String(),
  at: Type.String(),
});
export type Setback = Static<typeof Setback>;

const Setbacks = Type.Object({
  setbacks_version: Type.Literal(1),
  setbacks: Type.Array(Setback),
});

/** Where they are kept in an engine's folder. */
export function setbacksFile(root: string): string {
  return join(root, "setbacks.json");
}

/** All builds that are passed over. */
export async function readSetbacks(root: string): Promise<Setback[]> {
  return (await readShaped(setbacksFile(root), Setbacks))?.setbacks ?? [];
}

/** The setback of a program, or null. */
export function setbackOf(
  { id, digest }: Pick<EngineBinary, "id" | "digest">,
  setbacks: readonly Setback[],
): Setback | null {
  return setbacks.find((one) => one.build === id && one.digest === digest) ?? null;
}

/** Notes a setback in place of an older one of the build. @throws the system's error when it cannot be written */
export async function noteSetback(root: string, setback: Setback): Promise<void> {
  const others = (await readSetbacks(root)).filter(({ build }) => build !== setback.build);
  await writeSetbacks(root, [...others, setback]);
}

/** Forgets the setback of a build, or with null all of them. @throws the system's error when it cannot be written */
export async function forgetSetbacks(root: string, build: string | null): Promise<void> {
  const all = await readSetbacks(root);
  const left = build === null ? [] : all.filter((one) => one.build !== build);
  if (left.length < all.length) await writeSetbacks(root, left);
}

async function writeSetbacks(root: string, setbacks: Setback[]): Promise<void> {
  const file = setbacksFile(root);
  if (setbacks.length === 0) await rm(file, { force: true });
  else await replaceJson(file, { setbacks_version: 1, setbacks });
}
