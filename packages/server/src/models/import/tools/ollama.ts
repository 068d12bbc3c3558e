import { lstat, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import type { Shelf } from "../found.js";
import { fromHome, joinFor, type Machine, variable } from "../machine.js";
import { field, readingProblem, readSmallJson } from "../small-file.js";
import { emptySurvey, type Survey, type ToolReader } from "../survey.js";
import { walkFiles } from "../walk.js";

/** Where the Linux installer's service keeps its models: it runs as a user of its own. */
const SERVICE_FOLDER = "/usr/share/ollama/.ollama/models";

/** The newer one first: where both have a name, it is the one that counts (manifest/manifest.go). */
const MANIFEST_FOLDERS = ["manifests-v2", "manifests"];
const MANIFEST_LIST = "application/vnd.ollama.manifest.list.v2+json";
const LAYER = "application/vnd.ollama.image.";
const DEFAULT_HOST = "registry.ollama.ai";
const DEFAULT_NAMESPACE = "library";
const DEFAULT_TAG = "latest";

/** Entries of a manifest list that are GGUF, the one for an unchanged llama.cpp first. */
const RUNNERS = ["llamacpp", "ollama", ""];

/**
 * Architectures whose files Ollama published in a layout of its own and rewrites in memory when it
 * loads them (llama/compat/README.md of its repository); llama.cpp alone may refuse them.
 */
const OWN_LAYOUT = new Set([
  ...["deepseekocr", "gemma3", "gemma3n", "gemma4", "glm4moelite", "glmocr", "gptoss", "laguna"],
  ...["lfm2", "llama4", "mistral3", "mllama", "nemotron_h_moe", "nemotron_h_omni", "olmo3"],
  ...["qwen25vl", "qwen35", "qwen35moe", "qwen3next", "qwen3vl", "qwen3vlmoe"],
]);

/**
 * Ollama's store: `manifests/<host>/<namespace>/<model>/<tag>`, JSON whose layers name content by
 * digest, and the content under `blobs/sha256-<hex>` (manifest/paths.go, types/model/name.go).
 */
export const ollama: ToolReader = {
  async folders(machine: Machine) {
    const named = variable(machine, "OLLAMA_MODELS");
    const usual = joinFor(machine)(machine.home, ".ollama", "models");
    if (named !== null) return [fromHome(machine, named), usual];
    return machine.platform === "linux" ? [usual, SERVICE_FOLDER] : [usual];
  },

  async survey(folder, signal) {
    const survey = emptySurvey();
    const seen = new Set<string>();
    for (const name of MANIFEST_FOLDERS) {
      const root = join(folder, name);
      const walked = await walkFiles(root, () => true, signal, { maxDepth: 3, maxEntries: 50_000 });
      survey.problems.push(...walked.problems);
      for (const path of walked.files) {
        signal.throwIfAborted();
        const steps = relative(root, path).split(sep);
        if (steps.length !== 4 || steps.some((step) => step.startsWith("."))) continue;
        const model = shortName(steps);
        if (seen.has(model.toLowerCase())) continue;
        seen.add(model.toLowerCase());
        await readManifest(folder, path, model, steps[0]!, survey);
      }
    }
    // Of two names for one model the one that says more is shown.
    survey.shelves.sort((a, b) => Number(!a.name.includes(":")) - Number(!b.name.includes(":")));
    return survey;
  },
};

/** The shortest name that Ollama itself understands. */
function shortName([host, namespace, model, tag]: string[]): string {
  const isDefault = host === DEFAULT_HOST;
  const place = isDefault && namespace === DEFAULT_NAMESPACE ? [model] : [namespace, model];
  const full = (isDefault ? place : [host, namespace, model]).join("/");
  return tag === DEFAULT_TAG ? full : `${full}:${tag}`;
}

async function readManifest(
  folder: string,
  path: string,
  name: string,
  host: string,
  survey: Survey,
): Promise<void> {
  const refuse = (problem: string) => {
    survey.problems.push({ path, problem: `The manifest of ${name} ${problem}.` });
  };
  let manifest: unknown;
  try {
    manifest = await readSmallJson(path);
    if (field(manifest, "mediaType") === MANIFEST_LIST) {
      manifest = await entryOf(manifest, folder);
    }
  } catch (error) {
    refuse(readingProblem(error));
    return;
  }
  const layers = field(manifest, "layers");
  if (!Array.isArray(layers)) {
    refuse("is not an Ollama manifest");
    return;
  }
  const files: Shelf["files"] = [];
  for (const layer of layers) {
    const type = field(layer, "mediaType");
    if (type === `${LAYER}adapter`) {
      refuse("adds an adapter (LoRA) to its model, which is not applied here");
      return;
    }
    if (type !== `${LAYER}model` && type !== `${LAYER}projector`) continue;
    const blob = await blobOf(layer, folder);
    if (typeof blob === "string") {
      refuse(blob);
      return;
    }
    files.push(blob);
  }
  // A model of the vendor's cloud has a manifest without weights, an MLX one has tensors by name.
  if (files.length === 0) {
    const isSafetensors = layers.some((layer) => field(layer, "mediaType") === `${LAYER}tensor`);
    refuse(isSafetensors ? "names safetensors, not GGUF" : "names no weights");
    return;
  }
  survey.shelves.push({
    tool: "ollama",
    name,
    isExactName: true,
    manifest: path,
    files,
    anonymous: true,
    // What was pulled from the hub through Ollama are files for llama.cpp.
    ...(/^(hf\.co|huggingface\.co)$/i.test(host) ? {} : { caution: layoutCaution }),
  });
}

function layoutCaution(architecture: string): string | null {
  if (!OWN_LAYOUT.has(architecture)) return null;
  return `Ollama keeps ${architecture} models in a layout of its own, which llama.cpp may refuse.`;
}

/** The entry of a manifest list that is GGUF. @throws Error when it has none or it cannot be read */
async function entryOf(list: unknown, folder: string): Promise<unknown> {
  const manifests = field(list, "manifests");
  const entries: unknown[] = Array.isArray(manifests) ? manifests : [];
  for (const runner of RUNNERS) {
    const entry = entries.find((one) => {
      const format = field(one, "format") ?? "gguf";
      return String(field(one, "runner") ?? "").toLowerCase() === runner && format === "gguf";
    });
    if (entry === undefined) continue;
    if (Array.isArray(field(entry, "layers"))) return entry;
    const blob = await blobOf(entry, folder);
    if (typeof blob === "string") throw new Error(blob);
    return await readSmallJson(blob.path);
  }
  throw new Error("lists no variant in GGUF");
}

/** The content that a layer names; or what is wrong with it, as the end of a sentence. */
async function blobOf(
  layer: unknown,
  folder: string,
): Promise<{ path: string; claimedSha256: string } | string> {
  const digest = field(layer, "digest");
  const hex = typeof digest === "string" ? /^sha256[:-]([0-9a-f]{64})$/i.exec(digest)?.[1] : null;
  if (hex == null) return "names content by something that is no SHA-256";
  const path = join(folder, "blobs", `sha256-${hex.toLowerCase()}`);
  const wanted = field(layer, "size");
  try {
    await lstat(path);
    const { size } = await stat(path);
    if (typeof wanted === "number" && wanted > 0 && wanted !== size) {
      return `names a file of ${wanted} bytes that has ${size}`;
    }
  } catch (error) {
    return readingProblem(error);
  }
  return { path, claimedSha256: hex.toLowerCase() };
}
