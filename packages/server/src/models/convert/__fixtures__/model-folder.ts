import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { type Conversion, type ConversionRequest, convert } from "../index.js";
import type { FolderContent } from "./tiny-bert.js";

/** An empty folder that is removed after the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "somnus-convert-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes a model's files into `folder`; undefined content is left out. */
export async function writeModel(folder: string, content: FolderContent): Promise<void> {
  for (const [name, value] of Object.entries(content)) {
    if (value === undefined) continue;
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, bytesOf(value));
  }
}

/** A file's bytes: bytes as they are, anything else as JSON. */
export function bytesOf(value: unknown): Uint8Array {
  return value instanceof Uint8Array ? value : Buffer.from(JSON.stringify(value));
}

/** A model's folder that is removed after the test. */
export async function modelFolder(content: FolderContent): Promise<string> {
  const folder = await temporaryFolder();
  await writeModel(folder, content);
  return folder;
}

/** Converts a folder to `out`, without progress unless asked for. */
export function convertFolder(
  folder: string,
  out: string,
  more: Partial<ConversionRequest> = {},
): Promise<Conversion> {
  return convert({
    converter: "sentence-transformers-bert",
    folder,
    out,
    on: () => {},
    signal: new AbortController().signal,
    ...more,
  });
}

/** Converts content that lies in a folder of its own; the output is removed after the test. */
export async function convertContent(
  content: FolderContent,
  more: Partial<ConversionRequest> = {},
): Promise<Conversion> {
  const out = join(await temporaryFolder(), "model.gguf");
  return convertFolder(await modelFolder(content), out, more);
}
