import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { afterAll, beforeAll } from "vitest";

const SRC = fileURLToPath(new URL("../../src/", import.meta.url));

/**
 * Today's sources as plain JavaScript, which another Node process can run, in a folder of its own for all tests of a
 * file. Any user may read it.
 *
 * @param entries files below src/; what they import comes along. What only a URL names is an entry of its own.
 * @param packages a package that the sources need: it is found, and with it all that are installed beside it. None
 *   is found otherwise.
 * @returns a function that gives the folder, laid out as src/
 */
export function compiledRooms(entries: readonly string[], packages?: string): () => string {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "somnus-rooms-"));
    await chmod(folder, 0o755);
    await writeFile(join(folder, "package.json"), '{"type":"module"}');
    if (packages !== undefined) {
      await symlink(installedBeside(packages), join(folder, "node_modules"), "junction");
    }
    await compile(entries, folder);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return () => folder;
}

/** The folder that a package is installed in. */
function installedBeside(name: string): string {
  const path = createRequire(import.meta.url).resolve(name);
  const folder = `${sep}node_modules`;
  return path.slice(0, path.lastIndexOf(folder + sep) + folder.length);
}

async function compile(entries: readonly string[], folder: string): Promise<void> {
  const paths = new Set(entries);
  for (const path of paths) {
    const source = await readFile(join(SRC, path), "utf8");
    const { outputText } = ts.transpileModule(source, {
      compilerOptions: {
        module: ts.ModuleKind.ESNext,
        target: ts.ScriptTarget.ES2023,
        verbatimModuleSyntax: true,
      },
    });
    const out = join(folder, asScript(path));
    await mkdir(dirname(out), { recursive: true });
    await writeFile(out, outputText);
    for (const { fileName } of ts.preProcessFile(outputText).importedFiles) {
      if (fileName.startsWith("."))
        paths.add(join(dirname(path), fileName.replace(/\.js$/, ".ts")));
    }
  }
}

const asScript = (path: string) => path.replace(/\.ts$/, ".js");
