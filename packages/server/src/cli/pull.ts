import { createArtifacts } from "../artifacts/index.js";
import type { Config } from "../config/index.js";
import {
  type Catalog,
  findInCatalog,
  type HubSpec,
  openLibrary,
  parseHubSpec,
  readCatalog,
} from "../models/index.js";
import { CliFailure, EXIT, usageError } from "./failure.js";
import type { Io } from "./io.js";
import { nextStep, untestedNote } from "./next-step.js";
import { catalogTarget, hubTarget, type PlannedFile, type PullTarget } from "./pull-target.js";
import { bytesText } from "./quantities.js";
import { type CommonOptions, loadSettings, serverEnvironment } from "./settings.js";
import { type Teller, tellWork } from "./teller.js";
import { unknownModel } from "./unknown-model.js";

export interface PullOptions extends CommonOptions {
  revision?: string;
  dryRun?: boolean;
  json?: boolean;
}

/**
 * `somnus pull MODEL...`: fetches what is missing of each, models of the catalog and any GGUF of the
 * hub. What was verified stays, so the same command goes on where it was stopped.
 */
export async function pull(io: Io, options: PullOptions, specs: string[]): Promise<number> {
  const { config } = await loadSettings(io, options);
  const stopping = { message: "Stopped.", advice: "The same command goes on." };
  return tellWork(io, { json: options.json === true, stopping }, async (tell, signal) => {
    const targets = await findTargets(io, config, options, specs, signal);
    for (const target of targets) {
      if (options.dryRun) await tellPlan(io, target, tell);
      else await bring(io, config, target, tell, signal);
    }
    return EXIT.ok;
  });
}

/**
 * All that is to be pulled, before anything is: a mistake in one of several names fetches nothing.
 * @throws CliFailure when a name means nothing; SomnusError when the hub has no such model
 */
async function findTargets(
  io: Io,
  config: Config,
  options: PullOptions,
  specs: readonly string[],
  signal: AbortSignal,
): Promise<PullTarget[]> {
  const catalog = await readCatalog();
  const env = serverEnvironment(io.env);
  const modelsDir = config.pool.models_dir;
  const place = { artifacts: createArtifacts({ env }), modelsDir, catalog, env };
  const wanted = [...new Set(specs)].map((spec) => meaningOf(catalog, spec, options.revision));
  const targets: PullTarget[] = [];
  for (const one of wanted) {
    if ("repo" in one) targets.push(await hubTarget(one, place, signal));
    else {
      const target = catalogTarget(one.model, one.variant, place);
      if (!(await target.isHere())) await requireFreeId(target.id, modelsDir);
      targets.push(target);
    }
  }
  return targets;
}

/** @throws CliFailure when a model that is not of the catalog has the id already */
async function requireFreeId(id: string, modelsDir: string): Promise<void> {
  const other = await openLibrary(modelsDir).find(id);
  if (other === null) return;
  throw new CliFailure(`There is another model ${id} already, which is not the catalog's.`, {
    advice: `To have the catalog's, remove that one first: somnus rm ${id}`,
  });
}

/** What a name means: a variant of the catalog, else what the hub has under it. @throws CliFailure */
function meaningOf(
  catalog: Catalog,
  spec: string,
  revision: string | undefined,
): NonNullable<ReturnType<typeof findInCatalog>> | HubSpec {
  const found = findInCatalog(catalog, spec);
  const hub = found === null ? parseHubSpec(spec) : null;
  if (hub !== null) return revision === undefined ? hub : { ...hub, revision };
  if (found === null) {
    const known = catalog.models.flatMap(({ id, variants }) =>
      variants.map(({ quant }) => ({ id, quant })),
    );
    throw unknownModel(
      known,
      spec,
      "All that can be had: somnus catalog; any GGUF of the hub: somnus pull OWNER/REPO",
    );
  }
  if (revision === undefined) return found;
  throw usageError(
    `${spec} is a model of the catalog, which says itself what to fetch.`,
    "--revision goes with a repository of the hub: somnus pull OWNER/REPO --revision REVISION",
  );
}

async function bring(
  io: Io,
  config: Config,
  target: PullTarget,
  tell: Teller,
  signal: AbortSignal,
): Promise<void> {
  const { id, quant } = target;
  const files = target.files.map(({ file, size }) => ({ file, size }));
  if (await target.isHere()) {
    tell.say("present", { id, quant, files }, `${title(io, target)} is already installed.`);
    return;
  }
  for (const text of target.notes) tell.say("note", { id, text }, text);
  const brought = await target.install((progress) => tell.progress(id, progress), signal);
  const notes = brought.tested ? [] : [untestedNote(id)];
  if (brought.pinned_here.length > 0) {
    const names = brought.pinned_here.join(", ");
    notes.push(`Nobody vouched for ${names} before this download; later ones are held to it.`);
  }
  for (const text of notes) tell.say("note", { id, text }, text);
  tell.say(
    "done",
    { id, quant, files },
    `${title(io, target)} is installed.${nextStep(config, { id, ...brought })}`,
  );
}

/** Says what would be fetched. */
async function tellPlan(io: Io, target: PullTarget, tell: Teller): Promise<void> {
  const { id, quant, license, tested, size, download_size, files, notes } = target;
  const installed = await target.isHere();
  const plan = { id, quant, license, tested, installed, size, download_size, files, notes };
  const isTested =
    tested === null ? "its file has to tell" : tested ? "yes" : "not with this version";
  const lines = [
    `${title(io, target)}${installed ? " is already installed." : ""}`,
    `  license  ${license ?? "not told"}`,
    `  tested   ${isTested}`,
    `  fetches  ${installed ? "nothing" : sizeText(download_size)}`,
    ...files.flatMap((file) => fileLines(file, "  ")),
    ...notes.map((note) => `  ${note}`),
  ];
  tell.say("plan", plan, lines.join("\n"));
}

function fileLines(file: PlannedFile, indent: string): string[] {
  const lines = [`${indent}file     ${file.file}, ${sizeText(file.size)}`];
  for (const source of file.sources) lines.push(`${indent}  from   ${source}`);
  if (file.gated) {
    lines.push(`${indent}  needs  an account that accepted its licence (HF_TOKEN)`);
  }
  if (file.made_from.length > 0) lines.push(`${indent}  made of`);
  return [...lines, ...file.made_from.flatMap((input) => fileLines(input, `${indent}    `))];
}

function sizeText(bytes: number | null): string {
  return bytes === null ? "size not told" : bytesText(bytes);
}

function title({ out }: Io, { id, quant, size }: PullTarget): string {
  const detail = [quant, size === null ? null : bytesText(size)].filter((part) => part !== null);
  return `${out.paint.bold(id)}${detail.length === 0 ? "" : ` (${detail.join(", ")})`}`;
}
