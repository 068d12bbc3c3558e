import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";

/**
 * Absolute path of the first executable file with this name on the search path of `env`, or null.
 * Relative entries of the search path are passed over: what they find depends on where we were started.
 */
export async function findProgram(name: string, env: NodeJS.ProcessEnv): Promise<string | null> {
  for (const folder of (env.PATH ?? env.Path ?? "").split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    for (const ending of endings(env)) {
      const path = join(folder, name + ending);
      if (await isExecutableFile(path)) return path;
    }
  }
  return null;
}

/** Whether a path is a file that this user may execute. */
export async function isExecutableFile(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

function endings(env: NodeJS.ProcessEnv): string[] {
  if (process.platform !== "win32") return [""];
  return (env.PATHEXT ?? ".EXE;.CMD;.BAT").split(";").filter((ending) => ending !== "");
}
