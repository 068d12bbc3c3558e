import { join } from "node:path";
import Type, { type Static } from "typebox";
import { replaceJson } from "../../../files/index.js";
import { readShaped } from "../read-shaped.js";

const MOST_KEPT = 10;

const History = Type.Object({
  history_version: Type.Literal(1),
  /** Ids of builds that a server used, the newest first, each once. */
  used: Type.Array(Type.String()),
});

function historyFile(root: string): string {
  return join(root, "history.json");
}

/** Ids of the builds that were used, the newest first. */
export async function readHistory(root: string): Promise<Static<typeof History>["used"]> {
  return (await readShaped(historyFile(root), History))?.used ?? [];
}

/** Puts a build at the head of the history. @throws the system's error when it cannot be written */
export async function noteUse(root: string, id: string): Promise<void> {
  const used = await readHistory(root);
  if (used[0] === id) return;
  const next = [id, ...used.filter((other) => other !== id)].slice(0, MOST_KEPT);
  await replaceJson(historyFile(root), { history_version: 1, used: next });
}
