import { dirname, join } from "node:path";
import { checkConfig } from "./check-config.js";
import { ConfigError, type ConfigProblem } from "./config-error.js";
import { type ConfigFile, readConfigFile, shownPath } from "./config-file.js";
import { type OverridingValue, readEnvironment } from "./environment.js";
import { readFlags } from "./flags.js";
import { type KeyPath, keyText } from "./key-path.js";
import { defaultPaths, expandHome, homeFolder, resolvePath } from "./paths.js";
import { readValue } from "./read-value.js";
import type { Config } from "./schema/index.js";
import type { SchemaNode } from "./schema/keywords.js";
import { KNOWN_KEYS, ROOT } from "./settings.js";

export interface ConfigSources {
  /** The file that `--config` names. */
  readonly file?: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  /** Values of flags by dotted key, as text or already typed; undefined counts as not given. */
  readonly flags: Readonly<Record<string, unknown>>;
  /** The flags as they are typed, by dotted key; `--` and the key's last part where not given. */
  readonly flagNames?: Readonly<Record<string, string>>;
  /** Where relative paths of flags and variables count from; the process's folder by default. */
  readonly cwd?: string;
}

/** Where the value of a setting came from. */
export interface Origin {
  readonly from: "flag" | "environment" | "file" | "default";
  /** `--port`, `SOMNUS_SERVER_PORT`, `somnus.toml:12`, `built in`. */
  readonly detail: string;
}

export interface LoadedConfig {
  readonly config: Config;
  /** The absolute path of the file that was read; null when there was none. */
  readonly file: string | null;
  /** The origin of every setting in force, by dotted key. */
  readonly origins: ReadonlyMap<string, Origin>;
  /** What is accepted but worth knowing. */
  readonly warnings: readonly string[];
}

/**
 * Reads the configuration from flags, environment, file and defaults, in this order of weight,
 * and checks it. The result is complete and frozen.
 *
 * @throws ConfigError with everything that is wrong.
 */
export async function loadConfig(sources: ConfigSources): Promise<LoadedConfig> {
  const cwd = sources.cwd ?? process.cwd();
  const file = await readConfigFile(sources.file, sources.env, cwd);
  return new Loading(sources, file, cwd).finish();
}

/** One run of `loadConfig`: gathers values and problems from all sources. */
class Loading {
  readonly #problems: ConfigProblem[] = [];
  readonly #warnings: string[] = [];
  /** What was given, by the winning source, without the parts that were wrong. */
  readonly #given: Record<string, unknown> = Object.create(null);
  /** Which flag or variable gave a key. */
  readonly #overridden = new Map<string, Origin>();
  readonly #origins = new Map<string, Origin>();
  readonly #home: string;

  constructor(
    private readonly sources: ConfigSources,
    private readonly file: ConfigFile | null,
    private readonly cwd: string,
  ) {
    this.#home = homeFolder(sources.env);
  }

  finish(): LoadedConfig {
    this.#readFile();
    const environment = readEnvironment(this.sources.env);
    const flags = readFlags(this.sources.flags, this.sources.flagNames);
    for (const { problems, warnings } of [environment, flags]) {
      for (const problem of problems) {
        this.#problems.push({ file: null, line: null, column: null, ...problem });
      }
      this.#warnings.push(...warnings);
    }
    for (const value of environment.values) this.#override(value, "environment");
    for (const value of flags.values) this.#override(value, "flag");

    const config = this.#complete(ROOT, this.#given, [], this.#folders()) as Config;
    this.#check(config);
    if (this.#problems.length > 0) throw new ConfigError(this.#problems);
    this.#warnAboutReadableKeys(config);
    return {
      config: deepFreeze(config),
      file: this.file?.path ?? null,
      origins: this.#origins,
      warnings: this.#warnings,
    };
  }

  #readFile(): void {
    if (this.file === null) return;
    const read = readValue(ROOT, this.file.table, [], KNOWN_KEYS);
    for (const { path, message, suggestion } of read.problems) {
      this.#problems.push({ ...this.#place(path), message, suggestion });
    }
    for (const path of read.withoutEffect) {
      this.#warn(path, `${keyText(path)} is accepted, but has no effect in this version.`);
    }
    Object.assign(this.#given, read.value);
  }

  #override({ path, value, source }: OverridingValue, from: "flag" | "environment"): void {
    let table = this.#given;
    for (const step of path.slice(0, -1)) {
      table[step] ??= Object.create(null);
      table = table[step] as Record<string, unknown>;
    }
    table[path.at(-1)!] = value;
    this.#overridden.set(keyText(path), { from, detail: source });
  }

  /** The settings whose default depends on the machine, by key. */
  #folders(): ReadonlyMap<string, string> {
    const usual = defaultPaths(this.sources.env);
    const dataDir = valueAt(this.#given, ["paths", "data_dir"]);
    const data =
      typeof dataDir === "string" ? this.#resolve(dataDir, ["paths", "data_dir"]) : usual.data_dir;
    return new Map([
      ["paths.cache_dir", usual.cache_dir],
      ["paths.data_dir", usual.data_dir],
      ["pool.models_dir", join(data, "models")],
    ]);
  }

  /** What was given with every default in place, and the origin of each value noted. */
  #complete(
    node: SchemaNode,
    given: unknown,
    path: KeyPath,
    folders: ReadonlyMap<string, string>,
  ): unknown {
    if (node.properties !== undefined) {
      const table: Record<string, unknown> = {};
      for (const [key, property] of Object.entries(node.properties)) {
        const at = [...path, key];
        const value = (given as Record<string, unknown>)[key];
        if (value !== undefined) table[key] = this.#complete(property, value, at, folders);
        else if (node.required?.includes(key) === true) {
          const standing = this.#default(property, at, folders);
          if (standing !== undefined) table[key] = standing;
        }
      }
      return table;
    }
    if (node.items?.properties !== undefined && (given as unknown[]).length > 0) {
      return (given as unknown[]).map((item, index) =>
        this.#complete(node.items!, item, [...path, index], folders),
      );
    }
    if (node.type === "object" && Object.keys(given as object).length > 0) {
      for (const key of Object.keys(given as object)) this.#noteOrigin([...path, key]);
      return given;
    }
    this.#noteOrigin(path);
    if (typeof given !== "string" || node.path === undefined) return given;
    return node.path === "models_folder"
      ? expandHome(given, this.#home)
      : this.#resolve(given, path);
  }

  #default(property: SchemaNode, at: KeyPath, folders: ReadonlyMap<string, string>): unknown {
    const key = keyText(at);
    const folder = folders.get(key);
    if (folder !== undefined || property.default !== undefined) {
      this.#origins.set(key, { from: "default", detail: "built in" });
    }
    if (folder !== undefined) return folder;
    // A table of names keeps no prototype: `constructor` is then no name in it unless given.
    if (property.properties === undefined && property.type === "object") {
      return Object.assign(Object.create(null), property.default);
    }
    if (property.default !== undefined) return structuredClone(property.default);
    return property.type === "object" ? this.#complete(property, {}, at, folders) : undefined;
  }

  /** A path made absolute: those in the file count from the file's folder. */
  #resolve(path: string, at: KeyPath): string {
    const inFile = this.file !== null && this.#origin(at).from === "file";
    return resolvePath(path, inFile ? dirname(this.file!.path) : this.cwd, this.#home);
  }

  #noteOrigin(path: KeyPath): void {
    this.#origins.set(keyText(path), this.#origin(path));
  }

  /** Who gave the value at `path`; it must have been given. */
  #origin(path: KeyPath): Origin {
    for (let length = path.length; length > 0; length--) {
      const overriding = this.#overridden.get(keyText(path.slice(0, length)));
      if (overriding !== undefined) return overriding;
    }
    const line = this.file!.positions.of(path)?.line;
    const name = shownPath(this.file!.path, this.cwd);
    return { from: "file", detail: line === undefined ? name : `${name}:${line}` };
  }

  #check(config: Config): void {
    const isGiven = (path: KeyPath) => valueAt(this.#given, path) !== undefined;
    const wrongKeys = this.#problems.flatMap(({ key }) => (key === null ? [] : [key]));
    const isSound = (path: KeyPath) => {
      const outer = keyText(path);
      return !wrongKeys.some(
        (key) => key === outer || key.startsWith(`${outer}.`) || key.startsWith(`${outer}[`),
      );
    };
    const { problems, warnings } = checkConfig(config, isGiven, isSound);
    for (const { path, message, suggestion } of problems) {
      const isInFile = isGiven(path) && this.#origin(path).from === "file";
      const place = isInFile
        ? this.#place(path)
        : { file: null, line: null, column: null, key: keyText(path) };
      this.#problems.push({ ...place, message, suggestion });
    }
    for (const { path, message } of warnings) this.#warn(path, message);
  }

  #warn(path: KeyPath, message: string): void {
    const detail = this.file?.positions.of(path);
    const isInFile = detail !== undefined && detail !== null && this.#origin(path).from === "file";
    const start = isInFile ? `${shownPath(this.file!.path, this.cwd)}:${detail.line}: ` : "";
    this.#warnings.push(start + message);
  }

  #warnAboutReadableKeys({ server }: Config): void {
    if (this.file?.worldReadable !== true) return;
    const keys: KeyPath[] = [
      ...(server.api_keys.length > 0 ? [["server", "api_keys"]] : []),
      ...server.keys.map((_, index) => ["server", "keys", index, "key"]),
    ];
    if (keys.some((path) => this.#origin(path).from === "file")) {
      const name = shownPath(this.file.path, this.cwd);
      this.#warnings.push(
        `${name} holds API keys and every user of this machine can read it; chmod 600 ${name} closes it.`,
      );
    }
  }

  #place(path: KeyPath): Pick<ConfigProblem, "file" | "line" | "column" | "key"> {
    const position = this.file!.positions.of(path);
    return {
      file: this.file!.path,
      line: position?.line ?? null,
      column: position?.column ?? null,
      key: path.length === 0 ? null : keyText(path),
    };
  }
}

function valueAt(table: unknown, path: KeyPath): unknown {
  let value = table;
  for (const step of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step))
      return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value;
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}
