import { isAbsolute, posix, resolve, win32 } from "node:path";
import { MODALITIES, OneOf } from "@somnus/contract";
import Type, { type Static } from "typebox";
import { Compile } from "typebox/compile";

const Text = Type.String({ minLength: 1, maxLength: 1_000, pattern: "^[^\\x00-\\x1f\\x7f]+$" });
const Nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** What a file is to its model. */
const LIBRARY_ROLES = ["weights", "aux", "text_encoder", "tokenizer", "voices", "data"] as const;

const LibraryFile = Type.Object({
  role: OneOf(LIBRARY_ROLES),
  /** From the models folder with forward slashes; absolute for a file that is used where it was found. */
  path: Text,
  size: Type.Integer({ minimum: 0 }),
  sha256: Nullable(Type.String({ pattern: "^[0-9a-f]{64}$" })),
  /** Whether it may be deleted together with the model. */
  ours: Type.Boolean(),
});

const Origin = Type.Union([
  Type.Object({ type: Type.Literal("huggingface"), repo: Text, revision: Text }),
  Type.Object({ type: Type.Literal("import"), tool: Text, location: Text }),
  Type.Object({ type: Type.Literal("convert"), converter: Text, from: Text }),
]);

/** A model that is installed without being in the catalog: what it is and which files it is made of. */
export const LibraryManifest = Type.Object({
  manifest_version: Type.Literal(1),
  /** As the pool knows it; what ids are made of is the contract's rule. */
  id: Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$" }),
  quant: Nullable(Text),
  modality: OneOf(MODALITIES),
  additional_modalities: Type.Array(OneOf(MODALITIES)),
  engine: Text,
  architecture: Nullable(Text),
  license: Nullable(Text),
  /** Whether no model of its architecture was ever run with this version. */
  untested: Type.Boolean(),
  origin: Origin,
  /** Parts of a split model in their order, all with the role weights. */
  files: Type.Array(LibraryFile, { minItems: 1 }),
  /** RFC 3339. */
  added_at: Text,
});
export type LibraryManifest = Static<typeof LibraryManifest>;
/** One file of a model of the library. */
export type LibraryFile = Static<typeof LibraryFile>;

const check = Compile(LibraryManifest);

/** The value as a manifest, or what is wrong with it as the end of a sentence. */
export function readManifest(value: unknown): LibraryManifest | string {
  if (!check.Check(value)) {
    const [first] = check.Errors(value);
    return `at ${first?.instancePath || "its top"} it ${first?.message}`;
  }
  if (value.id.split("/").some((part) => part === "" || part === "." || part === "..")) {
    return "its id has an empty part or dots between slashes";
  }
  for (const file of value.files) {
    const fault = pathFault(file);
    if (fault !== null) return `the path ${JSON.stringify(file.path)} ${fault}`;
  }
  if (!value.files.some(({ role }) => role === "weights")) return "it names no weights";
  return value;
}

/** A manifest may come from anywhere, and what it calls ours is deleted with the model. */
function pathFault({ path, ours }: LibraryFile): string | null {
  if (isAbsolute(path)) return ours ? "is outside the models folder, so it cannot be ours" : null;
  if (posix.isAbsolute(path) || win32.isAbsolute(path)) return "is of another platform";
  const parts = path.split(/[/\\]/);
  return parts.some((part) => part === "" || part === "." || part === "..")
    ? "leads out of the models folder"
    : null;
}

/** Where a file of the library is; absolute. */
export function libraryFilePath(modelsDir: string, file: LibraryFile): string {
  return resolve(modelsDir, file.path);
}
