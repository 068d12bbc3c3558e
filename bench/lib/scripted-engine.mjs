import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const PROGRAM = fileURLToPath(
  new URL("../../packages/server/test/fake-engine/fake-engine.mjs", import.meta.url),
);

/** The tests' stand-in for llama-server, which answers at once: an executable, removed by its `remove`. */
export async function scriptedEngine() {
  const folder = await mkdtemp(join(tmpdir(), "somnus-bench-"));
  const path = join(folder, "llama-server");
  await writeFile(path, `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`);
  await chmod(path, 0o755);
  return { path, remove: () => rm(folder, { recursive: true }) };
}
