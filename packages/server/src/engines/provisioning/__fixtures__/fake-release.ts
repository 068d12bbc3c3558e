import { createHash } from "node:crypto";
import { mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { create } from "tar";
import { onTestFinished } from "vitest";
import { createArtifacts } from "../../../artifacts/index.js";
import { type FakeEngine, writeFakeEngine } from "./fake-engine.js";
import type { FakeMachine } from "./fake-machine.js";

/** One asset of a made-up release for the machine that runs the test. */
export interface FakeAsset {
  accelerator: "cpu" | "cuda" | "vulkan";
  engine?: FakeEngine;
  /** Whether the catalog has its digest. */
  pinned?: boolean;
}

/** A release on a server of this machine. */
export interface FakeRelease {
  /** File names in the order they were asked for. */
  asked: string[];
  /** Name of the archive of an asset. */
  fileOf(accelerator: FakeAsset["accelerator"]): string;
  /** Replaces what the server gives for an asset. */
  replace(accelerator: FakeAsset["accelerator"], content: Buffer): void;
  /** From now on each answer stops half-way, its connection left open, until `goOn`. */
  stallHalfWay(): void;
  goOn(): void;
  /** Resolves when an answer has stopped half-way. */
  stalled(): Promise<void>;
  close(): Promise<void>;
}

/** Gives the machine's catalog a release, and the machine artifacts that fetch it over HTTP. */
export async function addRelease(
  machine: FakeMachine,
  assets: readonly FakeAsset[],
): Promise<FakeRelease> {
  const content = new Map<string, Buffer>();
  const fileOf = (accelerator: string) => `llama-b11434-bin-test-${accelerator}.tar.gz`;
  for (const asset of assets) {
    const archive = await makeArchive(machine, asset);
    content.set(fileOf(asset.accelerator), archive);
  }
  const asked: string[] = [];
  const halted = new Set<() => void>();
  let stalls = false;
  let tellStalled: () => void = () => {};
  const whenStalled = new Promise<void>((resolve) => {
    tellStalled = resolve;
  });
  const server = createServer((request, response) => {
    const name = (request.url ?? "").slice(1);
    asked.push(name);
    const file = content.get(name);
    if (file === undefined) return void response.writeHead(404).end();
    answer(file, response);
  });
  const answer = (file: Buffer, response: ServerResponse) => {
    response.writeHead(200, { "content-length": file.length });
    if (!stalls) return void response.end(file);
    const half = Math.floor(file.length / 2);
    response.write(file.subarray(0, half), () => tellStalled());
    halted.add(() => response.end(file.subarray(half)));
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  onTestFinished(close);
  const { catalogFile = "", env } = machine.options;
  const catalog = await readFile(catalogFile, "utf8");
  const entries = assets.map(({ accelerator, pinned }) => {
    const file = content.get(fileOf(accelerator)) ?? Buffer.alloc(0);
    const sha256 = createHash("sha256").update(file).digest("hex");
    const pin = pinned === true ? `, size = ${file.length}, sha256 = "${sha256}"` : "";
    return `[[llama.builds.release.assets]]
os = "${process.platform}"
arch = "${process.arch}"
accelerator = "${accelerator}"
files = [{ file = "${fileOf(accelerator)}", strip = 1${pin} }]
`;
  });
  const release = `[llama.builds.release]
url = "http://127.0.0.1:${port}/"
most_unpacked_bytes = 1000000
${entries.join("\n")}
`;
  await writeFile(
    catalogFile,
    catalog.replace("[llama.builds.source]", `${release}[llama.builds.source]`),
  );
  machine.options.releaseBuild = true;
  machine.options.artifacts = createArtifacts({ env, limits: { reachMs: 2_000, stallMs: 20_000 } });
  return {
    asked,
    fileOf,
    replace: (accelerator, file) => void content.set(fileOf(accelerator), file),
    stallHalfWay() {
      stalls = true;
    },
    goOn() {
      stalls = false;
      for (const end of halted) end();
      halted.clear();
    },
    stalled: () => whenStalled,
    close: async () => close().catch(() => {}),
  };
}

/** An archive as the project packs them: one folder, the program, its libraries and links between them. */
async function makeArchive(
  machine: FakeMachine,
  { accelerator, engine }: FakeAsset,
): Promise<Buffer> {
  const folder = join(machine.folder, `release-${accelerator}`);
  const tree = join(folder, "llama-b11434");
  await mkdir(tree, { recursive: true });
  await writeFakeEngine(join(tree, "llama-server"), {
    startsFile: join(machine.folder, "engine-starts"),
    ...engine,
  });
  await writeFile(join(tree, "libllama.so.0.0.1"), `library for ${accelerator}\n`.repeat(2_000));
  await symlink("libllama.so.0.0.1", join(tree, "libllama.so.0"));
  const file = join(folder, "release.tar.gz");
  await create({ gzip: true, file, cwd: folder, portable: true }, ["llama-b11434"]);
  const content = await readFile(file);
  await rm(folder, { recursive: true, force: true });
  return content;
}
