import { posix } from "node:path";
import type { RepositoryFile, RepositoryListing } from "../../artifacts/index.js";
import { SomnusError } from "../../http/errors.js";
import { nearest } from "../../spelling/index.js";
import { type Candidate, findCandidates } from "./candidates.js";
import type { HubSpec } from "./hub-spec.js";
import { choiceRank, projectorRank, quantMatch, quantOfPath, USUAL_QUANT } from "./quantization.js";

/** What of a repository is to be fetched. */
export interface Choice {
  model: Candidate;
  /** How the model is named within the repository: by its quantization, else by its file. */
  label: string;
  /** What a model that sees or hears needs beside its weights. */
  projector: RepositoryFile | null;
  /** What was decided for the user, a sentence each. */
  notes: string[];
}

/**
 * Chooses the files that a person means.
 *
 * @throws SomnusError `model_unavailable` when the repository has none such; it says what is there
 */
export function chooseFiles(listing: RepositoryListing, spec: HubSpec): Choice {
  const { models, projectors, refused } = findCandidates(listing.files);
  if (models.length === 0) throw noModel(listing, refused);
  const notes: string[] = [];
  const model =
    spec.path !== null
      ? byPath(models, spec.path, listing)
      : spec.quant !== null
        ? byQuant(models, spec.quant, listing, notes)
        : byDefault(models, listing, notes);
  if (model.missingParts > 0) {
    throw refusal(
      `${listing.repo} has ${labelOf(model)} in parts, and ${model.missingParts} of them are missing there`,
    );
  }
  const namesakes = models.filter((one) => labelOf(one) === labelOf(model));
  return {
    model,
    // Chosen by its path, it may be any of several in one quantization.
    label: spec.path !== null && namesakes.length > 1 ? pathLabel(model) : labelOf(model),
    projector: projectorFor(model, projectors),
    notes,
  };
}

function pathLabel({ folder, stem }: Candidate): string {
  return posix.join(folder, stem);
}

function labelOf({ quant, stem }: Candidate): string {
  return quant ?? stem;
}

function byPath(models: Candidate[], path: string, listing: RepositoryListing): Candidate {
  const wanted = path.toLowerCase();
  const found =
    models.find(({ files }) => files.some((file) => file.path.toLowerCase() === wanted)) ??
    only(models.filter(({ files }) => files.some((file) => posix.basename(file.path) === path)));
  if (found) return found;
  const paths = models.map(({ files }) => files[0]!.path);
  const meant = nearest(path, paths);
  throw refusal(
    `${listing.repo} has no model file ${JSON.stringify(path)}`,
    meant === null ? `It has ${list(paths)}` : `Did you mean ${listing.repo}:${meant}?`,
  );
}

function byQuant(
  models: Candidate[],
  wanted: string,
  listing: RepositoryListing,
  notes: string[],
): Candidate {
  for (const kind of ["exact", "same"] as const) {
    const found = models.filter((model) => quantMatch(wanted, labelOf(model)) === kind);
    if (found.length === 0) continue;
    if (kind === "same") notes.push(`${listing.repo} names it ${labelOf(found[0]!)}.`);
    return theOne(found, wanted, listing);
  }
  const labels = [...new Set(models.map(labelOf))].sort();
  const meant = nearest(wanted, labels);
  throw refusal(
    `${listing.repo} has no ${JSON.stringify(wanted)}`,
    `${meant === null ? "" : `Did you mean ${meant}? `}It has ${list(labels)}`,
  );
}

function byDefault(models: Candidate[], listing: RepositoryListing, notes: string[]): Candidate {
  const whole = models.filter(({ missingParts }) => missingParts === 0);
  const [first] = (whole.length > 0 ? whole : models).sort(
    (a, b) => choiceRank(a.quant) - choiceRank(b.quant) || a.size - b.size,
  );
  const label = labelOf(first!);
  const alike = models.filter((model) => labelOf(model) === label);
  const chosen = theOne(alike, label, listing);
  const others = [...new Set(models.map(labelOf))].filter((one) => one !== label);
  if (others.length > 0) {
    const why = label === USUAL_QUANT ? "" : `${listing.repo} has no ${USUAL_QUANT}: `;
    notes.push(
      `${why}${label} is taken of ${others.length + 1} there (also ${list(others.sort())}).`,
    );
  }
  return chosen;
}

/** The one of several with the same name that lies nearest to the top. */
function theOne(found: Candidate[], wanted: string, listing: RepositoryListing): Candidate {
  const depth = ({ files }: Candidate) => files[0]!.path.split("/").length;
  const least = Math.min(...found.map(depth));
  const nearestToTop = found.filter((model) => depth(model) === least);
  const one =
    only(nearestToTop) ?? only(nearestToTop.filter(({ missingParts }) => missingParts === 0));
  if (one) return one;
  const specs = nearestToTop.map(({ files }) => `${listing.repo}:${files[0]!.path}`);
  throw refusal(`${listing.repo} has several models in ${wanted}`, `Name the file: ${list(specs)}`);
}

/** The projector beside the model, else the one at the top of the repository. */
function projectorFor(model: Candidate, projectors: RepositoryFile[]): RepositoryFile | null {
  const rank = ({ path }: RepositoryFile) => projectorRank(quantOfPath(posix.basename(path)));
  for (const folder of new Set([model.folder, ""])) {
    const here = projectors.filter(({ path }) => {
      const dir = posix.dirname(path);
      return (dir === "." ? "" : dir) === folder;
    });
    const [best] = here.sort((a, b) => rank(a) - rank(b) || a.size - b.size);
    if (best) return best;
  }
  return null;
}

/** Says what is in a repository that has nothing to run. */
function noModel({ repo, files, fromCache }: RepositoryListing, refused: string[]): SomnusError {
  const where = fromCache ? `The cache has no GGUF file of ${repo}` : `${repo} has no GGUF file`;
  if (refused.length > 0) {
    return refusal(
      `${where} with a name that can be stored here`,
      `It has ${list(refused.map((path) => JSON.stringify(path)))}`,
    );
  }
  const count = (pattern: RegExp) => files.filter(({ path }) => pattern.test(path)).length;
  const kinds = [
    [count(/\.safetensors$/i), "safetensors"],
    [count(/\.(?:bin|pt|pth|ckpt)$/i), "PyTorch"],
    [count(/\.onnx$/i), "ONNX"],
    [count(/\.mlmodelc?\b/i), "Core ML"],
  ] as const;
  const there = kinds.filter(([number]) => number > 0).map(([number, kind]) => `${number} ${kind}`);
  const what =
    there.length > 0
      ? `It has ${there.join(", ")} file${there.length === 1 && there[0]!.startsWith("1 ") ? "" : "s"}`
      : `It has ${files.length} other files`;
  const isSentenceTransformers = files.some(
    ({ path }) => path === "modules.json" || path === "config_sentence_transformers.json",
  );
  return refusal(
    where,
    `${what}. ${
      isSentenceTransformers
        ? "It is a sentence-transformers model: download it and make a GGUF file of it with: somnus convert FOLDER"
        : "Look on the hub for a repository of the same model with GGUF in its name"
    }`,
  );
}

function only<T>(found: readonly T[]): T | null {
  return found.length === 1 ? found[0]! : null;
}

const MOST_LISTED = 30;

function list(names: readonly string[]): string {
  const more = names.length > MOST_LISTED ? ` and ${names.length - MOST_LISTED} more` : "";
  return names.slice(0, MOST_LISTED).join(", ") + more;
}

function refusal(what: string, next = ""): SomnusError {
  const end = next === "" || /[.?]$/.test(next) ? next : `${next}.`;
  return new SomnusError("model_unavailable", `${what}. ${end}`.trim());
}
