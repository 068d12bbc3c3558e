import { accept } from "./accept.js";
import type { EngineBinary } from "./binary.js";
import { candidateOf, readBuilds } from "./builds.js";
import { readHistory } from "./steering/history.js";
import { setbackOf } from "./steering/setbacks.js";
import type { Context } from "./way.js";

/**
 * The build to use in place of another: the one that was used last before it, else the newest
 * installed one; never one that is passed over itself or is the same program. Null when there is none.
 * @throws the signal's reason when it fires
 */
export async function previousBuild(
  than: EngineBinary,
  { root, trial, setbacks }: Pick<Context, "root" | "trial" | "setbacks">,
  signal: AbortSignal,
): Promise<EngineBinary | null> {
  const used = await readHistory(root);
  const rank = (id: string) => {
    const at = used.indexOf(id);
    return at === -1 ? used.length : at;
  };
  const builds = (await readBuilds(root))
    .filter(({ binary }) => binary.id !== than.id && binary.digest !== than.digest)
    .filter(({ binary }) => binary.origin !== "configured")
    .filter(({ binary }) => setbackOf(binary, setbacks) === null)
    // Stable: where neither was used, the newer build stays first.
    .sort((a, b) => rank(a.binary.id) - rank(b.binary.id));
  for (const build of builds) {
    const verdict = await accept(candidateOf(build), trial, signal);
    if (verdict.accepted) return verdict.binary;
  }
  return null;
}
