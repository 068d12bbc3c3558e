import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import {
  encodeGguf,
  type GgufSource,
  string,
  tinyBert,
  tinyLlama,
  tinyProjector,
  u32,
} from "../../../../test/gguf/index.js";
import { findForeignModels, type ModelHere } from "../find-models.js";
import type { Machine } from "../machine.js";

const encoded = new Map<string, Buffer>();

/** The bytes of a small model; the same for the same arguments. */
export function gguf(kind: "llama" | "bert" | "projector", name: string = kind): Buffer {
  const key = `${kind} ${name}`;
  const known = encoded.get(key);
  if (known !== undefined) return known;
  const source = { llama: tinyLlama, bert: tinyBert, projector: tinyProjector }[kind]();
  const bytes = Buffer.from(encodeGguf(withEntry(source, "general.name", name)));
  encoded.set(key, bytes);
  return bytes;
}

/** A llama of another architecture's name. */
export function ggufOf(architecture: string): Buffer {
  const source = tinyLlama();
  const metadata = source.metadata.map(([key, value]): GgufSource["metadata"][number] =>
    key === "general.architecture"
      ? [key, string(architecture)]
      : [key.replace(/^llama\./, `${architecture}.`), value],
  );
  return Buffer.from(encodeGguf({ ...source, metadata }));
}

/** One part of a split model. Every part of these holds all tensors: only the header counts here. */
export function ggufPart(number: number, count: number): Buffer {
  const source = tinyLlama();
  const split: GgufSource["metadata"] = [
    ["split.no", { type: "u16", value: number - 1 }],
    ["split.count", { type: "u16", value: count }],
    ["split.tensors.count", { type: "i32", value: source.tensors.length }],
  ];
  const metadata = number === 1 ? [...source.metadata, ...split] : split;
  return Buffer.from(encodeGguf({ ...source, metadata }));
}

function withEntry(source: GgufSource, key: string, value: string): GgufSource {
  const others = source.metadata.filter(([name]) => name !== key);
  return { ...source, metadata: [...others, [key, string(value)], ["test.entry", u32(1)]] };
}

export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** A home folder with nothing in it. */
export async function emptyHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), "somnus-import-"));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  return home;
}

/** Writes a file and the folders it lies in. */
export async function put(path: string, content: string | Uint8Array): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
  return path;
}

/** One layer of an Ollama manifest. */
export interface Layer {
  kind: string;
  content: Uint8Array | string;
}

/** Puts a model into an Ollama store: its manifest under the four steps of its name, and its blobs. */
export async function putOllama(store: string, name: string, layers: Layer[]): Promise<string> {
  const described = layers.map(({ kind, content }) => ({
    mediaType: `application/vnd.ollama.image.${kind}`,
    digest: `sha256:${sha256(Buffer.from(content))}`,
    size: Buffer.from(content).length,
  }));
  for (const [index, { content }] of layers.entries()) {
    const blob = described[index]!.digest.replace(":", "-");
    await put(join(store, "blobs", blob), content);
  }
  const manifest = { schemaVersion: 2, config: { digest: "" }, layers: described };
  return await put(join(store, "manifests", name), JSON.stringify(manifest));
}

/** Puts a repository into a hub cache as its libraries do: content in `blobs`, links in a snapshot. */
export async function putRepository(
  cache: string,
  repository: string,
  files: Record<string, Uint8Array | string>,
  commit = "a".repeat(40),
): Promise<string> {
  const folder = join(cache, `models--${repository.replaceAll("/", "--")}`);
  const snapshot = join(folder, "snapshots", commit);
  await put(join(folder, "refs", "main"), commit);
  for (const [name, content] of Object.entries(files)) {
    const blob = await put(join(folder, "blobs", sha256(Buffer.from(content))), content);
    await mkdir(dirname(join(snapshot, name)), { recursive: true });
    await symlink(blob, join(snapshot, name));
  }
  return snapshot;
}

/** Looks through a home folder as a Linux machine has it. */
export async function search(
  home: string,
  options: {
    env?: NodeJS.ProcessEnv;
    here?: ModelHere[];
    signal?: AbortSignal;
    taken?: string[];
  } = {},
) {
  const machine: Machine = { env: options.env ?? {}, platform: "linux", home };
  const discovery = await findForeignModels({
    machine,
    here: options.here ?? [],
    isFreeId: (id) => !(options.taken ?? []).includes(id),
    signal: options.signal ?? new AbortController().signal,
  });
  // This machine may have a service of its own; it is not what is tried here.
  const isOurs = (path: string) => path.startsWith(home);
  return {
    models: discovery.models.filter((model) => isOurs(model.location)),
    problems: discovery.problems.filter(({ path }) => isOurs(path)),
    searched: discovery.searched,
  };
}
