import { rm } from "node:fs/promises";
import { join } from "node:path";
import Type, { type Static } from "typebox";
import { replaceJson } from "../../../files/index.js";
import { readShaped } from "../read-shaped.js";

/** The build that a person chose with `somnus engine use`. */
const Choice = Type.Object({
  choice_version: Type.Literal(1),
  /** See `buildId`. */
  build: Type.String(),
  chosen_at: Type.String(),
});
export type Choice = Static<typeof Choice>;

/** Where the choice is kept in an engine's folder. */
export function choiceFile(root: string): string {
  return join(root, "choice.json");
}

/** The choice; null when Somnus is to decide by itself. */
export async function readChoice(root: string): Promise<Choice | null> {
  return readShaped(choiceFile(root), Choice);
}

/** Keeps a choice, or with null forgets it. @throws the system's error when it cannot be written */
export async function writeChoice(root: string, build: string | null): Promise<void> {
  if (build === null) await rm(choiceFile(root), { force: true });
  else {
    const choice: Choice = { choice_version: 1, build, chosen_at: new Date().toISOString() };
    await replaceJson(choiceFile(root), choice);
  }
}
