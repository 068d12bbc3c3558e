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

/** This room as plain JavaScript in `out`, an empty folder, so that another Node process runs today's sources. */
async function compileRoom(out: string): Promise<void> {
  await writeFile(join(out, "package.json"), '{"type":"module"}');
  const undici = createRequire(import.meta.url).resolve("undici/package.json");
  await symlink(dirname(dirname(undici)), join(out, "node_modules"), "junction");
  for (const folder of [
    "artifacts",
    "artifacts/download",
    "artifacts/hugging-face",
    "artifacts/part",
    "artifacts/sources",
    "processes",
    "observe",
    "http",
  ]) {
    await mkdir(join(out, folder), { recursive: true });
    for (const file of await readdir(join(SRC, folder))) {
      if (!file.endsWith(".ts") || file.endsWith(".test.ts")) continue;
      const { outputText } = ts.transpileModule(await readFile(join(SRC, folder, file), "utf8"), {
        compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 },
      });
      await writeFile(join(out, folder, file.replace(/\.ts$/, ".js")), outputText);
    }
  }
}

export interface OtherProcess {
  child: ChildProcess;
  /** The next line it prints. Throws when it ends without one. */
  line(): Promise<string>;
  /** Resolves with its exit status or signal. */
  ended: Promise<number | string>;
}

/** Runs a script over the compiled room, which it imports as `room`; killed after the test if still there; `prefix` is a command that runs it. */
export function startProcess(
  compiled: string,
  script: string,
  options: { env?: NodeJS.ProcessEnv; shell?: string; prefix?: string } = {},
): OtherProcess {
  const room = pathToFileURL(join(compiled, "artifacts/index.js")).href;
  const code = `import * as room from ${JSON.stringify(room)};\n${script}`;
  const prefix = (options.prefix ?? "").split(" ").filter((word) => word !== "");
  const node = [...prefix, process.execPath, "--input-type=module", "-e", code];
  const [program, ...args] =
    options.shell === undefined ? node : ["sh", "-c", `${options.shell}; exec "$@"`, "sh", ...node];
  const child = spawn(program as string, args, {
    env: options.env ?? process.env,
    stdio: ["pipe", "pipe", "inherit"],
  });
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

/** The room compiled into a folder of its own for all tests of a file; the function gives the folder. */
export function compiledRoom(): () => string {
  let room = "";
  beforeAll(async () => {
    room = await mkdtemp(join(tmpdir(), "somnus-room-"));
    await compileRoom(room);
  });
  afterAll(() => rm(room, { recursive: true, force: true }));
  return () => room;
}
