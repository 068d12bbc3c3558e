import { realpath, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { parseMounts, type SystemFiles } from "../../../processes/index.js";

/**
 * A text that stands for the disk under a path, the same after the next start of the machine: what is
 * mounted there by /proc/self/mountinfo, elsewhere the number of the device. The path need not exist.
 */
export async function diskIdentity(path: string, files: SystemFiles): Promise<string> {
  const at = await nearestReal(path);
  let found = { length: -1, identity: "" };
  const mounts = parseMounts((await files.text("/proc/self/mountinfo")) ?? "");
  for (const { root, at: mount, type, source } of mounts) {
    const isAbove = mount === "/" || at === mount || at.startsWith(`${mount}/`);
    // Of two mounts at one place the later covers the earlier.
    if (mount !== "" && isAbove && mount.length >= found.length) {
      found = { length: mount.length, identity: `${type} ${source} ${root}` };
    }
  }
  if (found.length >= 0) return found.identity;
  return `device ${(await stat(at)).dev}`;
}

async function nearestReal(path: string): Promise<string> {
  for (let at = resolve(path); ; at = dirname(at)) {
    const real = await realpath(at).catch(() => null);
    if (real !== null) return real;
    if (dirname(at) === at) return at;
  }
}
