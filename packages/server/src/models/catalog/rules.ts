import { isDeepStrictEqual } from "node:util";
import { splitName } from "../../gguf/index.js";
import { isConverted } from "./facts.js";
import type { Catalog, CatalogFile, CatalogModel, CatalogVariant } from "./schema.js";

/**
 * What a catalog says that its shape allows and that cannot be: the end of a sentence that begins
 * with "The model catalog is wrong", or null. The first such thing is told.
 */
export function catalogFault(catalog: Catalog): string | null {
  const ids = repeated(catalog.models.map((model) => model.id));
  if (ids !== null) return `at ${ids}: this id stands there twice.`;
  const files = new Map<string, { file: CatalogFile; owner: CatalogModel }>();
  for (const model of catalog.models) {
    const fault = modelFault(model) ?? nameTaken(model, files);
    if (fault !== null) return `at ${model.id}: ${fault}`;
  }
  return null;
}

function modelFault(model: CatalogModel): string | null {
  const quant = repeated(model.variants.map((variant) => variant.quant.toLowerCase()));
  if (quant !== null) return `two of its variants are called ${quant}.`;
  const defaults = model.variants.filter((variant) => variant.default === true).length;
  if (defaults !== 1) return `${defaults} of its variants are its default; one must be.`;
  if (model.additional_modalities?.includes(model.modality)) {
    return `${model.modality} is its modality and an additional one.`;
  }
  if (
    model.active_parameters !== undefined &&
    model.active_parameters > (model.parameters ?? Number.POSITIVE_INFINITY)
  ) {
    return "more of its parameters are active than it has.";
  }
  for (const variant of model.variants) {
    const fault = variantFault(variant);
    if (fault !== null) return `${variant.quant}: ${fault}`;
  }
  return null;
}

function variantFault(variant: CatalogVariant): string | null {
  const name = repeated(variant.files.map(({ file }) => file.toLowerCase()));
  if (name !== null) return `${name} is named twice.`;
  const weights = variant.files.filter(({ role }) => role === "weights");
  if (weights.length === 0) return "none of its files has the role weights.";
  for (const role of ["aux", "text_encoder", "tokenizer", "voices"] as const) {
    if (variant.files.filter((file) => file.role === role).length > 1) {
      return `two of its files have the role ${role}.`;
    }
  }
  for (const file of variant.files) {
    if (!isConverted(file)) continue;
    const input = repeated(file.convert.inputs.map((one) => one.file.toLowerCase()));
    if (input !== null) return `the input ${input} of ${file.file} is named twice.`;
    if (file.convert.inputs.some((one) => one.file.toLowerCase() === file.file.toLowerCase())) {
      return `${file.file} is made out of a file of its own name.`;
    }
  }
  return splitFault(weights.map(({ file }) => file));
}

/** Parts of one split GGUF are told apart by their names alone, so these must be whole and in order. */
function splitFault(names: string[]): string | null {
  if (names.length === 1 && splitName(names[0]!) === null) return null;
  for (const [index, name] of names.entries()) {
    const part = splitName(name);
    if (part === null)
      return `${name} is one of several weights, but its name is not that of a part.`;
    if (part.prefix !== splitName(names[0]!)?.prefix)
      return `${name} and ${names[0]} are parts of two models.`;
    if (part.count !== names.length)
      return `${name} is one of ${part.count} parts; ${names.length} are named.`;
    if (part.number !== index + 1) return `${name} does not stand in its place among the parts.`;
  }
  return null;
}

/** All files lie in one folder: a name may come again only for the same file of the same model. */
function nameTaken(
  model: CatalogModel,
  files: Map<string, { file: CatalogFile; owner: CatalogModel }>,
): string | null {
  for (const file of model.variants.flatMap((variant) => variant.files as CatalogFile[])) {
    const key = file.file.toLowerCase();
    const before = files.get(key);
    if (before === undefined) files.set(key, { file, owner: model });
    else if (before.owner !== model) return `its ${file.file} is a file of ${before.owner.id} too.`;
    else if (!isDeepStrictEqual(before.file, file)) return `it has two different ${file.file}.`;
  }
  return null;
}

function repeated(names: readonly string[]): string | null {
  return names.find((name, index) => names.indexOf(name) !== index) ?? null;
}
