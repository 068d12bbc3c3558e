export {
  artifactOf,
  downloadSize,
  isConverted,
  testedArchitectures,
  variantSize,
} from "./facts.js";
export { defaultVariant, findInCatalog } from "./find.js";
export { readCatalog } from "./read-catalog.js";
export {
  type Catalog,
  type CatalogFile,
  type CatalogModel,
  type CatalogVariant,
  type ConversionInput,
  type ConvertedFile,
  catalogJsonSchema,
  type FetchedFile,
} from "./schema.js";
