import { createHash } from "node:crypto";
import {
  access,
  copyFile,
  mkdir,
  mkdtemp,
  readFile,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { create } from "tar";
import { type Artifacts, createArtifacts } from "../../../artifacts/index.js";
import type { Logger } from "../../../observe/index.js";
import type { ProvisioningOptions } from "../way.js";
import { type FakeEngine, writeFakeEngine } from "./fake-engine.js";

/** What the fake compiler does with the tree. */
export interface FakeCompiler {
  /**
   * `error`: a compile error; `memory`: dies of memory unless it runs one job; `hang`: never ends;
   * `wait`: goes on when the file `go` is in the machine's folder.
   */
  fault?: "error" | "memory" | "hang" | "wait";
  /** A cmake flag without which the fault does not happen. */
  faultNeeds?: string;
  /** The engine that comes out. */
  engine?: FakeEngine;
}

/** A temporary folder with programs, a cache and a source archive; nothing of the real machine is used. */
export interface FakeMachine {
  folder: string;
  /** Folder of programs: the search path of `options.env`. */
  programs: string;
  cacheDir: string;
  /** Folder of the engine's builds in the cache. */
  root: string;
  options: ProvisioningOptions;
  /** The source archive that `options.artifacts` brings. */
  archive: string;
  /** Messages that were logged, with their level's number. */
  logged: { level: number; msg: string }[];
  /** Arguments of each start of a fake tool, oldest first: `["ninja", "-C", ...]`. */
  starts(): Promise<string[][]>;
  remove(): Promise<void>;
}

const SDIST = "engine-source.tar.gz";

/** Makes a machine with a compiler, cmake and ninja, whose build takes a blink. */
export async function makeFakeMachine(compiler: FakeCompiler = {}): Promise<FakeMachine> {
  const folder = await mkdtemp(join(tmpdir(), "somnus-machine-"));
  const programs = join(folder, "programs");
  await mkdir(programs);
  await writeFakeEngine(join(folder, "built-engine"), {
    startsFile: join(folder, "engine-starts"),
    ...compiler.engine,
  });
  await writeTool(folder, join(programs, "c++"), "");
  await writeTool(folder, join(programs, "cmake"), CMAKE);
  await writeTool(folder, join(programs, "ninja"), ninja(folder, compiler));
  await linkSetpriv(programs);
  const archive = await makeArchive(folder);
  const logged: FakeMachine["logged"] = [];
  const cacheDir = join(folder, "cache");
  const options: ProvisioningOptions = {
    cacheDir,
    sourceBuild: true,
    env: { PATH: programs },
    artifacts: artifactsOf(archive),
    log: logInto(logged),
    catalogFile: await writeCatalog(folder, archive),
    drivers: async () => [],
  };
  return {
    ...{ folder, programs, cacheDir, options, archive, logged },
    root: join(cacheDir, "llama.cpp"),
    async starts() {
      const text = await readFile(join(folder, "starts"), "utf8").catch(() => "");
      return text
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as string[]);
    },
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** A program that notes its start, answers `--version`, and otherwise runs `body` (CommonJS). */
export async function writeTool(folder: string, path: string, body: string): Promise<void> {
  const program = `#!${process.execPath}
const fs = require("node:fs"), path = require("node:path");
const args = process.argv.slice(2);
const name = path.basename(process.argv[1]);
if (args.includes("--version")) { console.log(name + " version 3.25.1"); process.exit(0); }
fs.appendFileSync(${JSON.stringify(join(folder, "starts"))}, JSON.stringify([name, ...args]) + "\\n");
${body}
`;
  await writeFile(path, program, { mode: 0o755 });
}

/** Source of a fake cmake: keeps its flags where the fake ninja finds them. */
export const CMAKE = `
const build = args[args.indexOf("-B") + 1];
if (!fs.existsSync(path.join(args[args.indexOf("-S") + 1], "CMakeLists.txt"))) process.exit(1);
fs.writeFileSync(path.join(build, "flags.json"), JSON.stringify(args));
console.log("-- Configuring done");
`;

function ninja(folder: string, compiler: FakeCompiler): string {
  return `
const compiler = ${JSON.stringify(compiler)};
const build = args[args.indexOf("-C") + 1];
const jobs = args[args.indexOf("-j") + 1];
const flags = JSON.parse(fs.readFileSync(path.join(build, "flags.json"), "utf8"));
const faulty = !compiler.faultNeeds || flags.includes(compiler.faultNeeds);
console.log("[1/4] Building one");
console.log("[2/4] Building two");
if (faulty && compiler.fault === "error") {
  console.log("FAILED: three.o");
  console.log("three.cpp:7:1: error: a wrong word");
  process.exit(1);
}
if (faulty && compiler.fault === "memory" && jobs !== "1") {
  console.log("c++: fatal error: Killed signal terminated program cc1plus");
  process.exit(1);
}
if (faulty && compiler.fault === "hang") {
  const child = require("node:child_process").spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
  fs.writeFileSync(${JSON.stringify(join(folder, "ninja-pids"))}, process.pid + " " + child.pid);
  console.log("[3/4] Building three");
  setInterval(() => {}, 1000);
} else {
  if (faulty && compiler.fault === "wait") {
    fs.writeFileSync(${JSON.stringify(join(folder, "ninja-pids"))}, String(process.pid));
    console.log("[3/4] Building three");
    const pause = new Int32Array(new SharedArrayBuffer(4));
    while (!fs.existsSync(${JSON.stringify(join(folder, "go"))})) Atomics.wait(pause, 0, 0, 10);
  } else console.log("[3/4] Building three");
  fs.mkdirSync(path.join(build, "bin"));
  fs.copyFileSync(${JSON.stringify(join(folder, "built-engine"))}, path.join(build, "bin", "llama-server"));
  console.log("[4/4] Linking");
}
`;
}

/** The real one where there is one: what dies with whom is the kernel's business. */
async function linkSetpriv(programs: string): Promise<void> {
  for (const path of ["/usr/bin/setpriv", "/bin/setpriv"]) {
    const there = await access(path).then(
      () => true,
      () => false,
    );
    if (there) return symlink(path, join(programs, "setpriv"));
  }
}

async function makeArchive(folder: string): Promise<string> {
  const tree = join(folder, "engine-1.0");
  await mkdir(join(tree, "llama.cpp", "docs"), { recursive: true });
  await writeFile(join(tree, "wrapper.py"), "not ours\n");
  await writeFile(join(tree, "llama.cpp", "CMakeLists.txt"), "project(engine)\n");
  await writeFile(join(tree, "llama.cpp", "docs", "long.md"), "long\n");
  const archive = join(folder, SDIST);
  await create({ gzip: true, file: archive, cwd: folder, portable: true }, ["engine-1.0"]);
  return archive;
}

/** Artifacts that copy the archive, once. */
export function artifactsOf(archive: string): Artifacts {
  return {
    ...createArtifacts(),
    async fetch(spec, dir) {
      await mkdir(dir, { recursive: true });
      const path = join(dir, spec.file);
      await copyFile(archive, path);
      const { size, sha256 } = spec;
      if (size === null || sha256 === null) throw new Error("the test's source is not pinned");
      return { path, size, sha256, pinnedBy: "spec", source: "test", cached: false };
    },
    installed: async () => null,
  };
}

function logInto(logged: FakeMachine["logged"]): Logger {
  const write = (line: string) => logged.push(JSON.parse(line) as { level: number; msg: string });
  return pino({ base: null }, { write });
}

async function writeCatalog(folder: string, archive: string): Promise<string> {
  const content = await readFile(archive);
  const file = join(folder, "engines.catalog.toml");
  await writeFile(
    file,
    `catalog_version = 1
[llama]
name = "llama.cpp"
program = "llama-server"
default_build = 11434
[[llama.builds]]
number = 11434
license = "MIT"
[llama.builds.source]
file = "${SDIST}"
size = ${content.length}
sha256 = "${createHash("sha256").update(content).digest("hex")}"
sources = [{ type = "file", path = ${JSON.stringify(archive)} }]
folder = "llama.cpp"
leave_out = ["docs"]
target = "llama-server"
binary = "bin/llama-server"
disk_bytes = 1000
accelerated_disk_bytes = 2000
cmake_flags = ["-DCMAKE_BUILD_TYPE=Release"]
build_tools = { cmake = "cmake", ninja = "ninja" }
accelerators = { cuda = ["-DGGML_CUDA=ON"] }
`,
  );
  return file;
}
