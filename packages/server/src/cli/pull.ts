import { createArtifacts } from "../artifacts/index.js";
import {
  type Catalog,
  type CatalogModel,
  type CatalogVariant,
  findInCatalog,
  installVariant,
  isInstalled,
  readCatalog,
} from "../models/index.js";
import type { Progress } from "../observe/index.js";
import { nearest } from "../spelling/index.js";
import { CliFailure, EXIT, interrupted } from "./failure.js";
import type { Io } from "./io.js";
import { ProgressView } from "./progress-view.js";
import { bytesText } from "./quantities.js";
import { describe } from "./report-failure.js";
import { type CommonOptions, loadSettings, serverEnvironment } from "./settings.js";

/** Between two progress events of one step with `--json`, milliseconds. */
const EVENT_EVERY_MS = 500;

interface Wanted {
  model: CatalogModel;
  variant: CatalogVariant;
}

/**
 * `somnus pull ID[:QUANT]...`: fetches what is missing of each. What was verified stays, so the
 * same command goes on where it was stopped.
 */
export async function pull(
  io: Io,
  options: CommonOptions & { json?: boolean },
  specs: string[],
): Promise<number> {
  const { config } = await loadSettings(io, options);
  const catalog = await readCatalog();
  const wanted = specs.map((spec) => find(catalog, spec));
  const abort = new AbortController();
  const releases = (["SIGINT", "SIGTERM"] as const).map((signal) =>
    io.onSignal(signal, () => abort.abort(interrupted("Stopped.", "The same command goes on."))),
  );
  const tell = options.json ? eventTeller(io) : personTeller(io);
  const env = serverEnvironment(io.env);
  const artifacts = createArtifacts({ env });
  const modelsDir = config.pool.models_dir;
  try {
    for (const { model, variant } of wanted) {
      if (await isInstalled(variant, artifacts, modelsDir)) {
        tell.present(model, variant);
        continue;
      }
      await installVariant(variant, {
        artifacts,
        modelsDir,
        on: (progress) => tell.progress(model, progress),
        signal: abort.signal,
      });
      tell.done(model, variant);
    }
    return EXIT.ok;
  } catch (error) {
    tell.stop();
    const failure = abort.signal.aborted ? abort.signal.reason : error;
    if (!options.json) throw failure;
    const { message, advice, exitCode } = describe(failure);
    io.out.line(JSON.stringify({ event: "error", message, advice }));
    return exitCode;
  } finally {
    tell.stop();
    for (const release of releases) release();
  }
}

function find(catalog: Catalog, spec: string): Wanted {
  const found = findInCatalog(catalog, spec);
  if (found !== null) return found;
  const ids = catalog.models.map((model) => model.id);
  const model = catalog.models.find((one) => spec.startsWith(`${one.id}:`));
  if (model !== undefined) {
    const quants = model.variants.map((variant) => `${model.id}:${variant.quant}`);
    throw new CliFailure(`The catalog has no ${spec}.`, { advice: `It has ${quants.join(", ")}.` });
  }
  const meant = nearest(spec, ids);
  throw new CliFailure(`The catalog has no model "${spec}".`, {
    advice: `${meant === null ? "" : `Did you mean ${meant}? `}It has ${ids.join(", ")}.`,
  });
}

/** How the course of a pull is told. */
interface Teller {
  present(model: CatalogModel, variant: CatalogVariant): void;
  progress(model: CatalogModel, progress: Progress): void;
  done(model: CatalogModel, variant: CatalogVariant): void;
  stop(): void;
}

function personTeller({ out, err }: Io): Teller {
  const view = new ProgressView(err);
  const name = (model: CatalogModel, variant: CatalogVariant) =>
    `${out.paint.bold(model.id)} (${variant.quant}, ${bytesText(sizeOf(variant))})`;
  return {
    present: (model, variant) => out.line(`${name(model, variant)} is already installed.`),
    progress: (_model, { step, ...extent }) => view.show(step, extent),
    done: (model, variant) => {
      view.finish();
      out.line(`${name(model, variant)} is installed. Chat with it: somnus run ${model.id}`);
    },
    stop: () => view.stop(),
  };
}

function eventTeller({ out }: Io): Teller {
  let last = { step: "", at: 0 };
  const event = (name: string, fields: object) =>
    out.line(JSON.stringify({ event: name, ...fields }));
  const files = (variant: CatalogVariant) =>
    variant.files.map(({ file, size }) => ({ file, size }));
  return {
    present: (model, variant) =>
      event("present", { id: model.id, quant: variant.quant, files: files(variant) }),
    progress: (model, { step, done, total, unit, rate, etaSecs }) => {
      const at = performance.now();
      const isLast = total !== undefined && done >= total;
      if (step === last.step && at - last.at < EVENT_EVERY_MS && !isLast) return;
      last = { step, at };
      event("progress", {
        id: model.id,
        ...{ step, done, unit },
        total: total ?? null,
        rate: rate ?? null,
        eta_secs: etaSecs ?? null,
      });
    },
    done: (model, variant) =>
      event("done", { id: model.id, quant: variant.quant, files: files(variant) }),
    stop: () => {},
  };
}

function sizeOf(variant: CatalogVariant): number {
  return variant.files.reduce((sum, file) => sum + file.size, 0);
}
