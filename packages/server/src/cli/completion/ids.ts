import { readdir, readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { defaultPaths, homeFolder, resolvePath } from "../../config/paths.js";
import type { Io } from "../io.js";
import { type ScannedModel, scanCatalog } from "./scan-catalog.js";

/** What can be named on a command line. Each is read when it is asked for. */
export interface Ids {
  /** Models that are here: installed or configured. */
  installed(): Promise<string[]>;
  catalog(): Promise<string[]>;
  variants(): Promise<{ id: string; quant: string }[]>;
  /** Builds of engines. */
  builds(): Promise<string[]>;
}

/** The catalog that comes with the product. */
export const CATALOG_FILE = fileURLToPath(
  new URL("../../../../../config/models.catalog.toml", import.meta.url),
);

/**
 * The ids that the disk tells, read without the parts that check everything: those take longer to
 * load than a person waits for a Tab. What is broken is passed over.
 * @param given options of the command line, which may move the folders
 */
export function readIds(io: Io, given: ReadonlyMap<string, readonly string[]>): Ids {
  const catalog = once(async () => scanCatalog(await readFile(CATALOG_FILE, "utf8")));
  const places = once(() => readPlaces(io, given));
  return {
    async installed() {
      const { modelsDir, configured } = await places();
      const here = await Promise.all(
        (await catalog()).map(async (model) => {
          const files = model.variants.map((variant) => isHere(variant.files, modelsDir));
          return (await Promise.all(files)).includes(true) ? [model.id] : [];
        }),
      );
      return [...configured, ...(await libraryIds(modelsDir)), ...here.flat()].sort();
    },
    catalog: async () => (await catalog()).map(({ id }) => id),
    async variants() {
      return (await catalog()).flatMap(({ id, variants }) =>
        variants.map(({ quant }) => ({ id, quant })),
      );
    },
    builds: async () => buildIds((await places()).enginesDir),
  };
}

/** Whether all files of a variant are in the models folder, as long as they should be. */
async function isHere(
  files: ScannedModel["variants"][number]["files"],
  modelsDir: string,
): Promise<boolean> {
  for (const { file, size } of files) {
    const found = await stat(join(modelsDir, file)).catch(() => null);
    if (!found?.isFile() || (size !== null && found.size !== size)) return false;
  }
  return files.length > 0;
}

async function libraryIds(modelsDir: string): Promise<string[]> {
  const folder = join(modelsDir, "library");
  const names = await readdir(folder).catch(() => []);
  const ids = await Promise.all(
    names
      .filter((name) => name.endsWith(".json") && !name.startsWith("."))
      .map(async (name) => idIn(await readFile(join(folder, name), "utf8").catch(() => ""))),
  );
  return ids.flat();
}

function idIn(manifest: string): string[] {
  const value = json(manifest);
  return typeof value?.id === "string" ? [value.id] : [];
}

/** The ids of all builds in an engines folder: one folder an engine, one folder or receipt a build. */
async function buildIds(enginesDir: string): Promise<string[]> {
  const { buildId } = await import("../../engines/provisioning/build-id.js");
  const list = async (folder: string) => readdir(folder).catch(() => []);
  const ids: string[] = [];
  for (const engine of await list(enginesDir)) {
    const root = join(enginesDir, engine);
    const own = (await list(root)).map((name) => ({
      name,
      file: join(root, name, "receipt.json"),
    }));
    const accepted = join(root, "accepted");
    const elsewhere = (await list(accepted)).map((name) => ({ name, file: join(accepted, name) }));
    for (const { name, file } of [...own, ...elsewhere]) {
      const receipt = json(await readFile(file, "utf8").catch(() => ""));
      if (receipt === null || typeof receipt.origin !== "string") continue;
      const key = receipt.origin === "source" ? name : text(receipt.program);
      ids.push(buildId(receipt as unknown as Parameters<typeof buildId>[0], key));
    }
  }
  return [...new Set(ids)].sort();
}

interface Places {
  modelsDir: string;
  enginesDir: string;
  /** Ids of the `[[models]]` blocks. */
  configured: string[];
}

/** Where things are: by `--set`, else the environment, else the configuration file, else as usual. */
async function readPlaces(
  { env, cwd }: Io,
  given: ReadonlyMap<string, readonly string[]>,
): Promise<Places> {
  const file = await configFile(given.get("config")?.at(-1), env, cwd);
  const home = homeFolder(env);
  const usual = defaultPaths(env);
  const set = new Map(
    (given.get("set") ?? []).map((pair) => {
      const at = pair.indexOf("=");
      return [pair.slice(0, at).trim(), pair.slice(at + 1)];
    }),
  );
  const folder = (section: string, key: string): string | null => {
    const flag = set.get(`${section}.${key}`);
    const variable = env[`SOMNUS_${section}_${key}`.toUpperCase()];
    const typed = flag ?? (variable === "" ? undefined : variable);
    if (typed !== undefined) return resolvePath(typed, cwd, home);
    const value = table(file?.table[section])[key];
    return typeof value === "string" ? resolvePath(value, dirname(file!.path), home) : null;
  };
  const flag = given.get("models-dir")?.at(-1);
  const dataDir = folder("paths", "data_dir") ?? usual.data_dir;
  return {
    modelsDir:
      (flag === undefined ? null : resolvePath(flag, cwd, home)) ??
      folder("pool", "models_dir") ??
      join(dataDir, "models"),
    enginesDir: join(folder("paths", "cache_dir") ?? usual.cache_dir, "engines"),
    configured: tables(file?.table.models).map(({ id }) => text(id)),
  };
}

/** The configuration file as far as it can be read; null without one. */
async function configFile(named: string | undefined, env: NodeJS.ProcessEnv, cwd: string) {
  const usual = [join(cwd, "somnus.toml"), defaultPaths(env).config_file];
  const isNamed = named !== undefined || (env.SOMNUS_CONFIG ?? "") !== "";
  const isThere = (path: string) => stat(path).then(Boolean, () => false);
  if (!isNamed && !(await isThere(usual[0]!)) && !(await isThere(usual[1]!))) return null;
  // Loads a TOML parser.
  const { readConfigFile } = await import("../../config/config-file.js");
  return await readConfigFile(named, env, cwd).catch(() => null);
}

function once<T>(read: () => Promise<T>): () => Promise<T> {
  let value: Promise<T> | null = null;
  return () => {
    value ??= read();
    return value;
  };
}

function json(content: string): Record<string, unknown> | null {
  try {
    return table(JSON.parse(content));
  } catch {
    return null;
  }
}

function table(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function tables(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.map(table) : [];
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
