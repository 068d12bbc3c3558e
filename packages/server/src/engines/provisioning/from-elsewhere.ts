import { join, resolve } from "node:path";
import { SomnusError } from "../../http/errors.js";
import { findProgram, isExecutableFile } from "../../processes/index.js";
import { accept, type Verdict } from "./accept.js";
import type { BinaryOrigin } from "./binary.js";
import { candidateOf, readBuilds } from "./builds.js";
import { hashOf } from "./processor.js";
import { readChoice } from "./steering/choice.js";
import type { Context, Way } from "./way.js";

const NOTHING = { accepted: false, reason: null } as const;

/** What a person configured is used or is an error: another program in its place would surprise. */
export const fromConfiguration: Way = async (context, _on, signal) => {
  const configured = context.options.configuredPath;
  if (configured === undefined || configured === "") return NOTHING;
  const path = resolve(configured);
  const verdict = (await isExecutableFile(path))
    ? await acceptElsewhere(path, "configured", context, signal)
    : ({ accepted: false, reason: "there is no executable file" } as const);
  if (verdict.accepted) return verdict;
  throw new SomnusError(
    "model_unavailable",
    `engines.llama.path is ${path}, which cannot be used: ${verdict.reason}. Set it to another llama-server, or remove it and Somnus finds one itself.`,
    { param: "engines.llama.path" },
  );
};

/** The build that `somnus engine use` chose. One that is gone or broken gives way, aloud. */
export const fromChoice: Way = async (context, _on, signal) => {
  const { root, trial, options } = context;
  const choice = await readChoice(root);
  if (choice === null) return NOTHING;
  const build = (await readBuilds(root)).find(({ binary }) => binary.id === choice.build);
  const verdict: Verdict =
    build === undefined
      ? { accepted: false, reason: "it is not installed any more, or was changed" }
      : await accept(candidateOf(build), trial, signal);
  if (verdict.accepted) return verdict;
  options.log.warn(
    { build: choice.build },
    `not using the chosen engine build ${choice.build}: ${verdict.reason}`,
  );
  return { accepted: false, reason: `the chosen build ${choice.build}: ${verdict.reason}` };
};

/** The program on PATH, where it is one that fits. */
export const fromPath: Way = async (context, _on, signal) => {
  const { program } = context.engine;
  const path = await findProgram(program, context.options.env);
  if (path === null) return { accepted: false, reason: `${program} is not on PATH` };
  const verdict = await acceptElsewhere(path, "path", context, signal);
  if (verdict.accepted) return verdict;
  context.options.log.warn({ path }, `not using the ${program} on PATH: ${verdict.reason}`);
  return { accepted: false, reason: `${path} cannot be used: ${verdict.reason}` };
};

/** Accepts a program that is not ours; its receipt is kept in the cache, under its path's hash. */
export function acceptElsewhere(
  path: string,
  origin: BinaryOrigin,
  { root, trial }: Pick<Context, "root" | "trial">,
  signal: AbortSignal,
): Promise<Verdict> {
  const receiptFile = join(root, "accepted", `${hashOf([origin, path])}.json`);
  return accept({ path, origin, receiptFile }, trial, signal);
}
