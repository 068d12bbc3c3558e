import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeGguf, type GgufSource } from "./write-gguf.js";

/** Runs `use` with the path of a temporary file of this content, and removes the file afterwards. */
export async function withTemporaryFile<T>(
  content: GgufSource | Uint8Array,
  use: (path: string) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "somnus-gguf-"));
  try {
    const path = join(folder, "model.gguf");
    await writeFile(path, content instanceof Uint8Array ? content : encodeGguf(content));
    return await use(path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
