import { nearest } from "../spelling/index.js";
import type { KeyPath } from "./key-path.js";
import { isLoopbackHost, listenAddresses } from "./listen-addresses.js";
import { modelIdProblem } from "./model-id.js";
import type { ValueProblem } from "./read-value.js";
import type { Config } from "./schema/index.js";

/** What only shows when several settings are looked at together. */
export interface Findings {
  readonly problems: ValueProblem[];
  readonly warnings: { path: KeyPath; message: string }[];
}

const ALIAS_PATTERN = /^[A-Za-z0-9*][A-Za-z0-9._:/*-]{0,127}$/;

/**
 * Checks settings against each other. `isGiven` tells whether somebody set a key; `isSound`
 * whether everything below it was right by itself: what follows from another mistake is not
 * reported as a mistake of its own.
 */
export function checkConfig(
  config: Config,
  isGiven: (path: KeyPath) => boolean,
  isSound: (path: KeyPath) => boolean,
): Findings {
  const found: Findings = { problems: [], warnings: [] };
  checkModels(config, found);
  if (isSound(["models"])) {
    checkAliases(config, found);
    checkDefaultModel(config, found);
  }
  checkLimits(config, found, isGiven);
  if (isSound(["server"])) checkAccess(config, found);
  return found;
}

function wrong(found: Findings, path: KeyPath, message: string, suggestion: string | null = null) {
  found.problems.push({ path, message, suggestion });
}

function checkModels({ models }: Config, found: Findings): void {
  const firstWithId = new Map<string, number>();
  for (const [index, model] of models.entries()) {
    const at: KeyPath = ["models", index];
    // A block without an id was reported when it was read.
    if (typeof model.id === "string") {
      const problem = modelIdProblem(model.id);
      if (problem !== null)
        wrong(found, [...at, "id"], `The model id ${quote(model.id)} ${problem}.`);
      const first = firstWithId.get(model.id);
      if (first === undefined) firstWithId.set(model.id, index);
      else {
        wrong(
          found,
          [...at, "id"],
          `Two models have the id ${quote(model.id)}: models[${first}] and models[${index}].`,
        );
      }
    }
    if (model.engine === "openai_http") {
      wrong(found, [...at, "engine"], `The engine "openai_http" is not supported yet.`);
    } else if (model.engine !== "ggml_llama") {
      found.warnings.push({
        path: [...at, "engine"],
        message: `This version has no engine ${quote(model.engine)}; the model will not be available.`,
      });
    }
  }
}

function checkAliases({ aliases, models }: Config, found: Findings): void {
  const ids = new Set(models.map((model) => model.id));
  for (const [name, target] of Object.entries(aliases)) {
    const at: KeyPath = ["aliases", name];
    const isGlob = name.includes("*");
    if (isGlob && !ALIAS_PATTERN.test(name)) {
      wrong(
        found,
        at,
        `The alias ${quote(name)} may hold only * and what a model id may: letters, digits and . _ : / -, at most 128.`,
      );
    }
    const nameProblem = isGlob ? null : modelIdProblem(name);
    if (nameProblem !== null) wrong(found, at, `The alias ${quote(name)} ${nameProblem}.`);

    const targetProblem = modelIdProblem(target);
    if (targetProblem !== null) {
      wrong(
        found,
        at,
        `The alias ${quote(name)} leads to ${quote(target)}, which ${targetProblem}.`,
      );
    } else if (ids.size > 0 && !ids.has(target)) {
      wrong(
        found,
        at,
        `The alias ${quote(name)} leads to ${quote(target)}, but no [[models]] block has that id.`,
        didYouMean(target, ids),
      );
    }
    if (ids.has(name)) {
      found.warnings.push({
        path: at,
        message: `The alias ${quote(name)} is never used: a model has that id.`,
      });
    }
  }
}

function checkDefaultModel({ pool, models, aliases }: Config, found: Findings): void {
  const id = pool.default_model;
  if (id === undefined) return;
  const at: KeyPath = ["pool", "default_model"];
  const problem = modelIdProblem(id);
  if (problem !== null) wrong(found, at, `pool.default_model: ${quote(id)} ${problem}.`);
  else if (models.length > 0 && !Object.hasOwn(aliases, id)) {
    const ids = models.map((model) => model.id);
    if (ids.includes(id)) return;
    wrong(
      found,
      at,
      `pool.default_model is ${quote(id)}, but no [[models]] block has that id.`,
      didYouMean(id, ids),
    );
  }
}

function checkLimits(
  { limits }: Config,
  found: Findings,
  isGiven: (path: KeyPath) => boolean,
): void {
  const at: KeyPath = ["limits", "default_max_tokens"];
  if (isGiven(at) && limits.default_max_tokens > limits.max_tokens_cap) {
    wrong(
      found,
      at,
      `limits.default_max_tokens (${limits.default_max_tokens}) must not be more than limits.max_tokens_cap (${limits.max_tokens_cap}).`,
    );
  }
}

function checkAccess({ server }: Config, found: Findings): void {
  const plain = new Set(server.api_keys);
  if (plain.size < server.api_keys.length) {
    wrong(found, ["server", "api_keys"], "server.api_keys holds a key twice.");
  }
  const labelled = new Set<string>();
  for (const [index, { key }] of server.keys.entries()) {
    if (plain.has(key) || labelled.has(key)) {
      wrong(
        found,
        ["server", "keys", index, "key"],
        `server.keys[${index}].key is set a second time; give each key one place.`,
      );
    }
    labelled.add(key);
  }
  const open = listenAddresses(server.host).filter((host) => !isLoopbackHost(host));
  const hasKey = server.api_keys.length > 0 || server.keys.length > 0;
  if (open.length > 0 && !hasKey && !server.allow_unauthenticated) {
    wrong(
      found,
      ["server", "host"],
      `server.host ${open.join(", ")} is reachable from other machines, and no API key is set.`,
      "Set server.api_keys, or server.allow_unauthenticated = true if everyone there may use the server.",
    );
  }
}

function didYouMean(word: string, candidates: Iterable<string>): string | null {
  const meant = nearest(word, candidates);
  return meant === null ? null : `Did you mean ${quote(meant)}?`;
}

function quote(text: string): string {
  return JSON.stringify(text.length <= 140 ? text : `${text.slice(0, 140)}...`);
}
