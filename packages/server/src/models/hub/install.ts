import { dirname, join } from "node:path";
import { type Artifact, type Artifacts, holderText } from "../../artifacts/index.js";
import { type GgufSummary, readGguf, readGgufModel } from "../../gguf/index.js";
import { SomnusError } from "../../http/errors.js";
import type { OnProgress } from "../../observe/index.js";
import { type Catalog, testedArchitectures } from "../catalog/index.js";
import { FILES_AT_ONCE, inParallel } from "../install/in-parallel.js";
import { requireNoOther } from "../install/require-no-other.js";
import { type Library, type LibraryManifest, openLibrary, openPulls } from "../library/index.js";
import { notAModel, useOf } from "./describe.js";
import type { HubModel, HubModelFile } from "./resolve.js";

/** What installing a model of the hub works with. */
export interface HubInstallOptions {
  artifacts: Artifacts;
  modelsDir: string;
  /** Tells which architectures were run with this version. */
  catalog: Catalog;
  /** The library of the models folder; opened when absent. */
  library?: Library;
  /** Called for each file on its own: `file` of the progress names it. */
  on: OnProgress;
  signal: AbortSignal;
}

/**
 * Fetches what is missing of a model of the hub, reads what it is, and adds it to the library. What was fetched and
 * verified stays when it is stopped, so the same call goes on.
 *
 * @throws SomnusError `model_unavailable` when a file cannot be had, is no model, or cannot be noted; the signal's
 *   reason when aborted
 */
export async function installHubModel(
  model: HubModel,
  options: HubInstallOptions,
): Promise<LibraryManifest> {
  const { artifacts, modelsDir, signal } = options;
  for (const { path, spec } of model.files) {
    const place = join(modelsDir, path);
    // Without a hash nobody can tell whether a file that is there is the right one.
    const isRight =
      spec.sha256 !== null && (await artifacts.installed(spec, dirname(place))) !== null;
    if (!isRight) await requireNoOther(place, spec.file);
  }
  const onWait = (holder: { pid: number } | null) =>
    options.on({
      step: `waiting for ${holderText(holder)} to fetch ${model.id}`,
      file: model.files[0]!.spec.file,
      done: 0,
      unit: "bytes",
    });
  const pull = { key: model.id, files: model.files.map(({ path }) => path) };
  // Who removes the model decides when it is in the library or when its pull has not begun, never in between.
  return await openPulls(modelsDir).during(pull, { signal, onWait }, () =>
    bring(model, options, modelsDir),
  );
}

async function bring(
  model: HubModel,
  options: HubInstallOptions,
  modelsDir: string,
): Promise<LibraryManifest> {
  const { artifacts, signal } = options;
  const brought = new Map<HubModelFile, Artifact>();
  await inParallel(model.files, FILES_AT_ONCE, signal, async (file, signal) => {
    const folder = dirname(join(modelsDir, file.path));
    const on: OnProgress = (said) => options.on({ file: file.spec.file, ...said });
    brought.set(file, await artifacts.fetch(file.spec, folder, on, signal));
  });

  const { weights, projector } = await readFiles(model, modelsDir, signal);
  const { modality, additionalModalities } = useOf(weights, projector);
  const manifest: LibraryManifest = {
    manifest_version: 1,
    id: model.id,
    quant: model.quant ?? weights.quantization,
    modality,
    additional_modalities: additionalModalities,
    engine: "ggml_llama",
    architecture: weights.architecture,
    license: model.license ?? plainText(weights.license),
    untested: !testedArchitectures(options.catalog).includes(weights.architecture),
    origin: { type: "huggingface", repo: model.repo, revision: model.commit },
    files: model.files.map((file) => ({
      role: file.role,
      path: file.path,
      size: brought.get(file)!.size,
      sha256: brought.get(file)!.sha256,
      ours: true,
    })),
    added_at: new Date().toISOString(),
  };
  await (options.library ?? openLibrary(modelsDir)).add(manifest);
  return manifest;
}

async function readFiles(
  model: HubModel,
  modelsDir: string,
  signal: AbortSignal,
): Promise<{ weights: GgufSummary; projector: GgufSummary | null }> {
  const pathOf = (role: HubModelFile["role"]) => {
    const file = model.files.find((one) => one.role === role);
    return file && join(modelsDir, file.path);
  };
  const aux = pathOf("aux");
  try {
    const weights = await readGgufModel(pathOf("weights")!, signal);
    const fault = notAModel(weights);
    if (fault !== null) throw new SomnusError("model_unavailable", `${model.id}: ${fault}.`);
    return { weights, projector: aux === undefined ? null : await readGguf(aux, signal) };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof SomnusError)) throw error;
    throw new SomnusError(
      "model_unavailable",
      `${model.id} was fetched as the hub has it, but cannot be served. ${error.message} Its files stay in ${join(modelsDir, "hub", model.repo)}; if they are of no use: somnus rm ${model.id}`,
      { cause: error },
    );
  }
}

/** Text of a file as it may stand in a manifest, or null. */
function plainText(text: string | null): string | null {
  return text !== null && /^[\x20-\x7e]{1,100}$/.test(text) ? text : null;
}
