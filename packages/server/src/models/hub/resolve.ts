import { createHash } from "node:crypto";
import { posix } from "node:path";
import { type ArtifactSpec, listRepository, type RepositoryFile } from "../../artifacts/index.js";
import { SomnusError } from "../../http/errors.js";
import { chooseFiles } from "./choose.js";
import { type HubSpec, parseHubSpec } from "./hub-spec.js";

/** A model of the hub as it would be installed: which files of which commit. */
export interface HubModel {
  /** `owner/name:QUANT`, its id in the library and the pool. */
  id: string;
  repo: string;
  /** The commit that was listed; the files are taken from it and no other. */
  commit: string;
  /** As the names in the repository say; null when they do not. */
  quant: string | null;
  license: string | null;
  /** Whether a licence must be accepted on its page first. */
  gated: boolean;
  /** Parts of a split model in their order, then the projector if there is one. */
  files: HubModelFile[];
  /** Bytes of all files. */
  size: number;
  /** What was decided for the user, a sentence each: which quantization of which. */
  notes: string[];
}

/** One file of a model of the hub. */
export interface HubModelFile {
  role: "weights" | "aux";
  /** Where it goes, from the models folder, forward slashes: `hub/owner/name/file.gguf`. */
  path: string;
  size: number;
  spec: ArtifactSpec;
}

/**
 * Finds what a spec means on the hub, without fetching any file: `owner/name`, `owner/name:QUANT`,
 * `owner/name:file.gguf`, `owner/name@revision:QUANT`, or an address of the hub.
 *
 * @throws SomnusError `model_unavailable` with what is there or what to do; the signal's reason when aborted
 */
export async function resolveHubModel(
  spec: string | HubSpec,
  options: { env: NodeJS.ProcessEnv; signal: AbortSignal },
): Promise<HubModel> {
  const wanted = typeof spec === "string" ? parseHubSpec(spec) : spec;
  if (wanted === null) {
    throw new SomnusError(
      "model_unavailable",
      `${JSON.stringify(String(spec).slice(0, 200))} names no repository of the hub. Write owner/name, owner/name:QUANT, or the address of its page.`,
    );
  }
  const listing = await listRepository(
    wanted.repo,
    wanted.revision ?? "main",
    options.env,
    options.signal,
  );
  const { model, label, projector, notes } = chooseFiles(listing, wanted);
  const place = (file: RepositoryFile, role: HubModelFile["role"]): HubModelFile => ({
    role,
    path: posix.join("hub", listing.repo, file.path),
    size: file.size,
    spec: {
      file: posix.basename(file.path),
      size: file.size,
      sha256: file.sha256,
      sources: [
        { type: "huggingface", repo: listing.repo, revision: listing.commit, path: file.path },
      ],
    },
  });
  const files = [
    ...model.files.map((file) => place(file, "weights")),
    ...(projector ? [place(projector, "aux")] : []),
  ];
  return {
    id: idOf(listing.repo, label),
    repo: listing.repo,
    commit: listing.commit,
    quant: model.quant,
    license: listing.license,
    gated: listing.gated,
    files,
    size: files.reduce((sum, { size }) => sum + size, 0),
    notes: isSameName(listing.repo, wanted.repo)
      ? notes
      : [`${wanted.repo} is called ${listing.repo} now.`, ...notes],
  };
}

/** The hub does not tell upper from lower case in names. */
function isSameName(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

const LONGEST_ID = 128;

/** Ids have fewer letters than file names, and an end; what is cut off still counts. */
function idOf(repo: string, label: string): string {
  const id = `${repo}:${label.replace(/[^A-Za-z0-9._-]+/g, "-")}`;
  if (id.length <= LONGEST_ID) return id;
  const rest = createHash("sha256").update(id).digest("hex").slice(0, 8);
  return `${id.slice(0, LONGEST_ID - rest.length - 1)}-${rest}`;
}
