import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { parse, TomlError } from "smol-toml";
import { ConfigError } from "./config-error.js";
import { defaultPaths, homeFolder, resolvePath } from "./paths.js";
import { TomlPositions } from "./toml-positions.js";

/** No configuration is near this size; a file that is was named by mistake. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;
const MAX_DEPTH = 32;

/** A configuration file as it was read, not yet checked. */
export interface ConfigFile {
  /** Absolute. */
  readonly path: string;
  readonly table: Record<string, unknown>;
  readonly positions: TomlPositions;
  /** Whether users other than its owner and group may read it; never on Windows. */
  readonly worldReadable: boolean;
}

interface Place {
  readonly path: string;
  /** Who named the file; null for a usual place, where it may be missing. */
  readonly namedBy: string | null;
}

/**
 * Finds and parses the configuration file: the one named by `--config`, by `SOMNUS_CONFIG`,
 * `somnus.toml` in `cwd`, or the user's own. Null when there is none.
 *
 * @throws ConfigError when a named file is missing, or a file cannot be read or is not TOML.
 */
export async function readConfigFile(
  named: string | undefined,
  env: NodeJS.ProcessEnv,
  cwd: string,
): Promise<ConfigFile | null> {
  for (const place of places(named, env, cwd)) {
    const bytes = await readBytes(place);
    if (bytes !== null) return parseFile(place.path, bytes, await isWorldReadable(place.path));
  }
  return null;
}

function places(named: string | undefined, env: NodeJS.ProcessEnv, cwd: string): Place[] {
  const home = homeFolder(env);
  if (named !== undefined) return [{ path: resolvePath(named, cwd, home), namedBy: "--config" }];
  if (env.SOMNUS_CONFIG !== undefined && env.SOMNUS_CONFIG !== "") {
    return [{ path: resolvePath(env.SOMNUS_CONFIG, cwd, home), namedBy: "SOMNUS_CONFIG" }];
  }
  return [join(cwd, "somnus.toml"), defaultPaths(env).config_file].map((path) => ({
    path,
    namedBy: null,
  }));
}

async function readBytes({ path, namedBy }: Place): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    // Through a stream, so that a pipe works as a file and an endless device does no harm.
    for await (const chunk of createReadStream(path, { end: MAX_FILE_BYTES })) {
      chunks.push(chunk as Buffer);
      length += (chunk as Buffer).length;
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const isMissing = code === "ENOENT" || code === "ENOTDIR";
    if (isMissing && namedBy === null) return null;
    throw fileError(
      path,
      isMissing
        ? `There is no such file; ${namedBy} names it.`
        : code === "EISDIR"
          ? "This is a folder, not a file."
          : `The file cannot be read: ${code ?? message}.`,
    );
  }
  if (length > MAX_FILE_BYTES) {
    throw fileError(path, "The file is too large to be a configuration (over 4 MiB).");
  }
  return Buffer.concat(chunks);
}

async function isWorldReadable(path: string): Promise<boolean> {
  if (process.platform === "win32") return false;
  const info = await stat(path).catch(() => null);
  return info?.isFile() === true && (info.mode & 0o004) !== 0;
}

function parseFile(path: string, bytes: Buffer, worldReadable: boolean): ConfigFile {
  let source: string;
  try {
    // Also takes a byte order mark away.
    source = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw fileError(path, "The file is not UTF-8 text.");
  }
  try {
    const table = parse(source, { maxDepth: MAX_DEPTH });
    return { path, table, positions: new TomlPositions(source), worldReadable };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    // The rest of the parser's message repeats lines of the file, which may hold keys.
    const what = error.message.split("\n")[0]!.replace(/^Invalid TOML document: /, "");
    throw fileError(path, `This is not TOML: ${what}.`, error.line, error.column);
  }
}

function fileError(
  file: string,
  message: string,
  line: number | null = null,
  column: number | null = null,
): ConfigError {
  return new ConfigError([{ file, line, column, key: null, message, suggestion: null }]);
}

/** The path as it is shown: relative when it lies in `cwd`. */
export function shownPath(path: string, cwd: string): string {
  const near = relative(cwd, path);
  return near === "" || near.startsWith("..") ? path : near;
}
