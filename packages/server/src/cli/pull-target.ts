import { basename, dirname, join } from "node:path";
import { type ArtifactSpec, type Artifacts, labelOf } from "../artifacts/index.js";
import {
  artifactOf,
  type Catalog,
  type CatalogFile,
  type CatalogModel,
  type CatalogVariant,
  downloadSize,
  type HubSpec,
  installHubModel,
  installVariant,
  isConverted,
  isInstalled,
  libraryFilePath,
  openLibrary,
  resolveHubModel,
  variantSize,
} from "../models/index.js";
import type { OnProgress } from "../observe/index.js";

/** A file that a pull brings. */
export interface PlannedFile {
  file: string;
  /** Bytes; null when only the source knows. */
  size: number | null;
  /** Null when it is not known before the first download. */
  sha256: string | null;
  /** In the order they are tried, for people. None for a file that is made here. */
  sources: string[];
  /** Whether its repository asks for an account that accepted the licence. */
  gated: boolean;
  /** What it is made of, where it is made here. */
  made_from: PlannedFile[];
}

/** A model that can be pulled, wherever it comes from. */
export interface PullTarget {
  id: string;
  quant: string | null;
  license: string | null;
  /** Whether it was run with this version; null when its file has to tell. */
  tested: boolean | null;
  /** Bytes on the disk, and bytes to fetch; null when a source has not told. */
  size: number | null;
  download_size: number | null;
  files: PlannedFile[];
  /** What was decided for the user, a sentence each. */
  notes: string[];
  /** Whether all of it is here and verified. */
  isHere(): Promise<boolean>;
  /** Brings what is missing. @throws SomnusError; the signal's reason when aborted */
  install(on: OnProgress, signal: AbortSignal): Promise<Brought>;
}

/** What a pull has brought. */
export interface Brought {
  modality: string;
  /** Whether it was run with this version. */
  tested: boolean;
  /** Files whose content nobody vouched for before this download. */
  pinned_here: string[];
}

/** Where pulled models go. */
export interface PullPlace {
  artifacts: Artifacts;
  modelsDir: string;
}

/** A variant of the catalog as something to pull. */
export function catalogTarget(
  model: CatalogModel,
  variant: CatalogVariant,
  place: PullPlace,
): PullTarget {
  return {
    id: model.id,
    quant: variant.quant,
    license: model.license,
    tested: model.verified,
    size: variantSize(variant),
    download_size: downloadSize(variant),
    files: variant.files.map(plannedFile),
    notes: [],
    isHere: () => isInstalled(variant, place.artifacts, place.modelsDir),
    async install(on, signal) {
      await installVariant(variant, { ...place, on, signal });
      const pinned = await pinnedHere(variant.files.map(artifactOf), place);
      return { modality: model.modality, tested: model.verified, pinned_here: pinned };
    },
  };
}

/**
 * A repository of the hub, or one quantization in it, as something to pull. The hub is asked what is there.
 * @throws SomnusError model_unavailable; the signal's reason when aborted
 */
export async function hubTarget(
  spec: HubSpec,
  place: PullPlace & { catalog: Catalog; env: NodeJS.ProcessEnv },
  signal: AbortSignal,
): Promise<PullTarget> {
  const { artifacts, modelsDir, catalog, env } = place;
  const model = await resolveHubModel(spec, { env, signal });
  const library = openLibrary(modelsDir);
  const { id, quant, license, size, notes, gated, commit } = model;
  return {
    ...{ id, quant, license, size, notes, download_size: size, tested: null },
    files: model.files.map((file) => ({ ...planned(file.spec), gated })),
    async isHere() {
      const known = await library.find(id);
      if (known?.origin.type !== "huggingface" || known.origin.revision !== commit) return false;
      for (const file of known.files) {
        const path = libraryFilePath(modelsDir, file);
        const { size, sha256 } = file;
        const spec = { file: basename(path), size, sha256, sources: [] };
        if ((await artifacts.installed(spec, dirname(path))) === null) return false;
      }
      return true;
    },
    async install(on, signal) {
      const options = { artifacts, modelsDir, catalog, library, on, signal };
      const { modality, untested } = await installHubModel(model, options);
      const specs = model.files.map(({ path, spec }) => ({ ...spec, folder: dirname(path) }));
      const pinned = await pinnedHere(specs, place);
      return { modality, tested: !untested, pinned_here: pinned };
    },
  };
}

/** Those of the files whose content only their first download here says. */
async function pinnedHere(
  specs: readonly (ArtifactSpec & { folder?: string })[],
  { artifacts, modelsDir }: PullPlace,
): Promise<string[]> {
  const pinned: string[] = [];
  for (const { folder = "", ...spec } of specs) {
    if (spec.sha256 !== null) continue;
    const artifact = await artifacts.installed(spec, join(modelsDir, folder));
    if (artifact?.pinnedBy === "first download") pinned.push(spec.file);
  }
  return pinned;
}

function plannedFile(file: CatalogFile): PlannedFile {
  const inputs = isConverted(file) ? file.convert.inputs : [];
  return {
    ...planned(artifactOf(file)),
    gated: "gated" in file && file.gated === true,
    made_from: inputs.map((input) => planned(artifactOf(input))),
  };
}

function planned({ file, size, sha256, sources }: ArtifactSpec): PlannedFile {
  return { file, size, sha256, sources: sources.map(labelOf), gated: false, made_from: [] };
}
