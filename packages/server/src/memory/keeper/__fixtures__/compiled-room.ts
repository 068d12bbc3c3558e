import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";
import { transformWithOxc } from "vite";
import { afterAll, beforeAll, onTestFinished } from "vitest";

const SRC = fileURLToPath(new URL("../../../", import.meta.url));
const FOLDERS = ["memory/keeper", "memory/keeper/child", "processes"];

/** The keeper as plain JavaScript, so that another Node process runs today's sources. */
export interface CompiledRoom {
  folder: string;
  /** The code of the keeper process. */
  program: string;
}

/**
 * Compiled for all tests of a file, into a folder that any user may read; the function gives it.
 * @param native whether the keeper process finds its native calls
 */
export function compiledRoom({ native = true } = {}): () => CompiledRoom {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "somnus-keeper-"));
    await chmod(folder, 0o755);
    await writeFile(join(folder, "package.json"), '{"type":"module"}');
    if (native) {
      const koffi = createRequire(import.meta.url).resolve("koffi");
      const modules = koffi.slice(0, koffi.lastIndexOf("koffi"));
      await symlink(dirname(join(modules, "koffi")), join(folder, "node_modules"), "junction");
    }
    const sources = ["http/errors.ts"];
    for (const room of FOLDERS) {
      for (const name of await readdir(join(SRC, room))) {
        if (name.endsWith(".ts") && !name.endsWith(".test.ts")) sources.push(join(room, name));
      }
    }
    for (const path of sources) {
      const { code } = await transformWithOxc(
        await readFile(join(SRC, path), "utf8"),
        join(SRC, path),
        { target: "es2023", sourcemap: false },
      );
      const out = join(folder, path.replace(/\.ts$/, ".js"));
      await mkdir(dirname(out), { recursive: true });
      await writeFile(out, code);
    }
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return () => ({ folder, program: join(folder, "memory/keeper/child/main.js") });
}

export interface Elsewhere {
  child: ChildProcess;
  /** What it prints next, read as JSON. Throws when it ends without that. */
  next<T>(): Promise<T>;
  ended: Promise<unknown>;
}

/**
 * Runs a script in another process, which is killed after the test if it is still there. It imports a file of the
 * compiled room as `room` and tells with `tell(value)`.
 * @param prefix a command that runs the rest of its arguments
 */
export function elsewhere(
  { folder }: CompiledRoom,
  file: string,
  script: string,
  prefix: readonly string[] = [],
): Elsewhere {
  const code = `import * as room from ${JSON.stringify(pathToFileURL(join(folder, file)).href)};
    const tell = (value) => process.stdout.write(JSON.stringify(value) + "\\n");
    const log = { info() {}, warn() {}, error() {} };
    const signal = new AbortController().signal;
    ${script}`;
  const command = [...prefix, process.execPath, "--input-type=module", "-e", code];
  const child = spawn(command[0] as string, command.slice(1), {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    ended,
    async next<T>() {
      const { value, done } = await lines.next();
      if (done) throw new Error(`the other process ended: ${await ended}`);
      return JSON.parse(value) as T;
    },
  };
}
