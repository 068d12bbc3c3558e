import { homedir, tmpdir } from "node:os";
import { join, posix, resolve, win32 } from "node:path";
import { ConfigError } from "./config-error.js";

/** The user's folders for this product, absolute. None of them need exist. */
export interface DefaultPaths {
  /** The configuration file that is read when no other is named. */
  readonly config_file: string;
  /** What can be fetched or built again. */
  readonly cache_dir: string;
  /** What should be kept: models. */
  readonly data_dir: string;
  /** What should outlive a restart but is of no use elsewhere: logs, history. */
  readonly state_dir: string;
  /** Sockets and locks of running processes. */
  readonly runtime_dir: string;
}

const NAME = "somnus";

/**
 * The usual folders of the platform: XDG Base Directory on Linux and other Unix systems (a
 * relative `XDG_*` value is ignored, as its specification asks), `~/Library` on macOS,
 * `%LOCALAPPDATA%` and `%APPDATA%` on Windows.
 *
 * @throws ConfigError when the user has no home folder.
 */
export function defaultPaths(
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform = process.platform,
): DefaultPaths {
  const { join } = platform === "win32" ? win32 : posix;
  const folder = (name: string, fallback: string) => absolute(env[name], platform) ?? fallback;
  const home = homeFolder(env, platform);

  if (platform === "win32") {
    const local = join(folder("LOCALAPPDATA", join(home, "AppData", "Local")), NAME);
    const roaming = join(folder("APPDATA", join(home, "AppData", "Roaming")), NAME);
    return {
      config_file: join(roaming, "somnus.toml"),
      cache_dir: join(local, "cache"),
      data_dir: join(local, "data"),
      state_dir: join(local, "state"),
      runtime_dir: join(local, "run"),
    };
  }

  const temporary = join(folder("TMPDIR", tmpdir()), `${NAME}-${process.getuid?.() ?? "user"}`);
  if (platform === "darwin") {
    const library = join(home, "Library");
    return {
      config_file: join(library, "Application Support", NAME, "somnus.toml"),
      cache_dir: join(library, "Caches", NAME),
      data_dir: join(library, "Application Support", NAME),
      state_dir: join(library, "Application Support", NAME, "state"),
      runtime_dir: temporary,
    };
  }

  const runtime = folder("XDG_RUNTIME_DIR", "");
  return {
    config_file: join(folder("XDG_CONFIG_HOME", join(home, ".config")), NAME, "somnus.toml"),
    cache_dir: join(folder("XDG_CACHE_HOME", join(home, ".cache")), NAME),
    data_dir: join(folder("XDG_DATA_HOME", join(home, ".local", "share")), NAME),
    state_dir: join(folder("XDG_STATE_HOME", join(home, ".local", "state")), NAME),
    runtime_dir: runtime === "" ? temporary : join(runtime, NAME),
  };
}

/**
 * The user's home folder: what the environment says if it is absolute, else what the system says.
 *
 * @throws ConfigError when neither knows one, as for a made-up user id in a container.
 */
export function homeFolder(
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform = process.platform,
): string {
  const variable = platform === "win32" ? "USERPROFILE" : "HOME";
  const named = absolute(env[variable], platform);
  if (named !== null) return named;
  try {
    return homedir();
  } catch {
    const message = `This user has no home folder; set ${variable} to one.`;
    const nowhere = { file: null, line: null, column: null, key: null };
    throw new ConfigError([{ ...nowhere, message, suggestion: null }]);
  }
}

/** `path` made absolute: `~/` is the home folder, a relative path counts from `base`. */
export function resolvePath(path: string, base: string, home: string): string {
  return resolve(base, expandHome(path, home));
}

/** `path` with a leading `~/` replaced; `~other/` is left alone. */
export function expandHome(path: string, home: string): string {
  if (path === "~") return home;
  return /^~[/\\]/.test(path) ? join(home, path.slice(2)) : path;
}

function absolute(value: string | undefined, platform: NodeJS.Platform): string | null {
  const { isAbsolute } = platform === "win32" ? win32 : posix;
  return value !== undefined && isAbsolute(value) ? value : null;
}
