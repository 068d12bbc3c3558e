import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createArtifacts } from "../../../artifacts/index.js";
import type { ConversionInput, ConvertedFile, FetchedFile } from "../../catalog/index.js";
import type { Converter } from "../../convert/index.js";

/** A folder to install from, one to install into, and entries of a catalog that fit them. */
export async function openShop() {
  const root = await mkdtemp(join(tmpdir(), "somnus-install-"));
  const stock = join(root, "stock");
  const modelsDir = join(root, "models");
  await mkdir(modelsDir);

  async function offer(name: string, content: string) {
    const path = join(stock, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
    return {
      file: name,
      size: content.length,
      sha256: sha256Of(content),
      sources: [{ type: "file" as const, path }],
    };
  }

  return {
    root,
    stock,
    modelsDir,
    artifacts: createArtifacts(),
    async fetched(name: string, content: string): Promise<FetchedFile> {
      return { role: "weights", ...(await offer(name, content)) };
    },
    input: (name: string, content: string): Promise<ConversionInput> => offer(name, content),
    /** A file that `joining` makes out of the inputs. */
    converted(name: string, content: string, inputs: ConversionInput[]): ConvertedFile {
      return {
        role: "weights",
        file: name,
        size: content.length,
        sha256: sha256Of(content),
        convert: { converter: "joining", type: "F16", inputs },
      };
    },
    read: (name: string) => readFile(join(modelsDir, name), "utf8"),
    /** The names in the models folder, hidden ones too, without receipts. */
    async names() {
      const names = await readdir(modelsDir);
      return names.filter((name) => !name.endsWith(".receipt.json")).sort();
    },
    remove: () => rm(root, { recursive: true, force: true }),
  };
}
export type Shop = Awaited<ReturnType<typeof openShop>>;

/**
 * A converter whose output is its inputs one after the other.
 * @param reached hears of each step before it is taken
 */
export function joining(
  reached: (step: "prepare" | "write" | "check") => Promise<void> = async () => {},
): Converter {
  return {
    id: "joining",
    from: "anything",
    to: "the same",
    types: ["F16"],
    files: ["*"],
    detect: async () => true,
    async prepare(files) {
      await reached("prepare");
      const parts = await Promise.all([...files.values()].map((path) => readFile(path)));
      return {
        architecture: "joined",
        size: parts.reduce((sum, part) => sum + part.length, 0),
        notes: [],
        async write(out) {
          await out.write(parts[0]!);
          await reached("write");
          for (const part of parts.slice(1)) await out.write(part);
        },
        check: () => reached("check"),
        close: async () => {},
      };
    },
  };
}

function sha256Of(content: string): string {
  return createHash("sha256").update(content).digest("hex");
}
