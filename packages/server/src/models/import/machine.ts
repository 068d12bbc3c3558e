import { homedir } from "node:os";
import { posix, win32 } from "node:path";

/** What the places of other programs depend on. */
export interface Machine {
  env: NodeJS.ProcessEnv;
  platform: NodeJS.Platform;
  /** The user's home folder, absolute. */
  home: string;
}

/** The machine as an environment describes it. */
export function machineOf(env: NodeJS.ProcessEnv, platform = process.platform): Machine {
  const home = platform === "win32" ? env.USERPROFILE : env.HOME;
  return { env, platform, home: home === undefined || home === "" ? homedir() : home };
}

/** A variable without the quotes and spaces that end up in it; null when empty. */
export function variable({ env }: Machine, name: string): string | null {
  const value = (env[name] ?? "").trim().replace(/^["']+|["']+$/g, "");
  return value === "" ? null : value;
}

/** `path` with a leading `~/` replaced, made absolute from the home folder. */
export function fromHome({ home, platform }: Machine, path: string): string {
  const { join, resolve } = platform === "win32" ? win32 : posix;
  return /^~(?:$|[/\\])/.test(path) ? join(home, path.slice(1)) : resolve(home, path);
}

/** Joins for the machine's platform. */
export function joinFor({ platform }: Machine): (...steps: string[]) => string {
  return platform === "win32" ? win32.join : posix.join;
}

/** The folder that programs keep what they can fetch again in. */
export function cacheRoot(machine: Machine): string {
  const join = joinFor(machine);
  const { platform, home } = machine;
  if (platform === "win32") {
    return variable(machine, "LOCALAPPDATA") ?? join(home, "AppData", "Local");
  }
  if (platform === "darwin") return join(home, "Library", "Caches");
  return variable(machine, "XDG_CACHE_HOME") ?? join(home, ".cache");
}

/** The folder that programs keep their data in. */
export function dataRoot(machine: Machine): string {
  const join = joinFor(machine);
  const { platform, home } = machine;
  if (platform === "win32") {
    return variable(machine, "APPDATA") ?? join(home, "AppData", "Roaming");
  }
  if (platform === "darwin") return join(home, "Library", "Application Support");
  return variable(machine, "XDG_DATA_HOME") ?? join(home, ".local", "share");
}
