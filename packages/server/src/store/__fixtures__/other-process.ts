import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";
import ts from "typescript";
import { afterAll, beforeAll, onTestFinished } from "vitest";

const SRC = fileURLToPath(new URL("../../", import.meta.url));
const FOLDERS = ["store", "store/queries", "http"];

/** This room as plain JavaScript in `out`, an empty folder: its thread cannot be started from TypeScript. */
async function compileRoom(out: string): Promise<void> {
  await writeFile(join(out, "package.json"), '{"type":"module"}');
  const libsql = createRequire(import.meta.url).resolve("libsql");
  await symlink(dirname(dirname(libsql)), join(out, "node_modules"), "junction");
  for (const folder of FOLDERS) {
    await mkdir(join(out, folder), { recursive: true });
    for (const file of await readdir(join(SRC, folder))) {
      if (!file.endsWith(".ts") || file.endsWith(".test.ts")) continue;
      const { outputText } = ts.transpileModule(await readFile(join(SRC, folder, file), "utf8"), {
        compilerOptions: {
          module: ts.ModuleKind.ESNext,
          target: ts.ScriptTarget.ES2023,
          verbatimModuleSyntax: true,
        },
      });
      await writeFile(join(out, folder, file.replace(/\.ts$/, ".js")), outputText);
    }
  }
}

/** The room compiled into a folder of its own for all tests of a file. */
export function compiledRoom(): {
  /** The folder. */
  path(): string;
  /** The room's face, with a store that has a thread. */
  face(): Promise<typeof import("../index.js")>;
} {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "somnus-store-room-"));
    await compileRoom(folder);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return {
    path: () => folder,
    face: () => import(/* @vite-ignore */ pathToFileURL(join(folder, "store/index.js")).href),
  };
}

export interface OtherProcess {
  readonly child: ChildProcess;
  /** The next line it prints. Throws when it ends without one. */
  line(): Promise<string>;
  /** Resolves with its exit status or signal. */
  readonly ended: Promise<number | string>;
}

/** Runs a script over the compiled room, which it has as `room`; killed after the test if still there; `prefix` is a command that runs it. */
export function startProcess(
  compiled: string,
  script: string,
  prefix: readonly string[] = [],
): OtherProcess {
  const face = pathToFileURL(join(compiled, "store/index.js")).href;
  const log =
    "const log = { info() {}, warn: (f, m) => console.error(m, f), error: (f, m) => console.error(m, f) };";
  const code = `import * as room from ${JSON.stringify(face)};\n${log}\n${script}`;
  const [program, ...args] = [...prefix, process.execPath, "--input-type=module", "-e", code];
  const child = spawn(program as string, args, { stdio: ["pipe", "pipe", "pipe"] });
  child.stderr.resume();
  const ended = once(child, "exit").then(
    ([status, signal]) => (signal ?? status) as number | string,
  );
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    async line() {
      const { value, done } = await lines.next();
      if (done) throw new Error(`the other process ended: ${await ended}`);
      return value;
    },
    ended,
  };
}
