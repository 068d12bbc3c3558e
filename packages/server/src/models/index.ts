export { addConverted } from "./add-converted.js";
export {
  artifactOf,
  type Catalog,
  type CatalogFile,
  type CatalogModel,
  type CatalogVariant,
  catalogJsonSchema,
  defaultVariant,
  downloadSize,
  findInCatalog,
  isConverted,
  readCatalog,
  testedArchitectures,
  variantSize,
} from "./catalog/index.js";
export {
  type Conversion,
  type Converter,
  convert,
  converters,
  findConverter,
} from "./convert/index.js";
export { engineFiles } from "./engine-files.js";
export { findInLibrary } from "./find-in-library.js";
export {
  type HubInstallOptions,
  type HubModel,
  type HubModelFile,
  type HubSpec,
  installHubModel,
  parseHubSpec,
  resolveHubModel,
} from "./hub/index.js";
export {
  type Discovery,
  type FoundFile,
  type FoundModel,
  type FoundProblem,
  findForeignFile,
  findForeignModels,
  type ImportedModel,
  importModel,
  type Manner,
  type ModelHere,
  machineOf,
  type SearchedFolder,
} from "./import/index.js";
export {
  type InstallOptions,
  installVariant,
  isInstalled,
  pullKeyOf,
  type RemovedFile,
  removeVariant,
  type VariantRemains,
  variantRemains,
} from "./install/index.js";
export {
  type BrokenManifest,
  type Library,
  type LibraryFile,
  type LibraryManifest,
  libraryFilePath,
  openLibrary,
  openPulls,
  type PullNote,
  type Pulls,
  removeEmptyFolders,
  removeParts,
  tracesOf,
} from "./library/index.js";
export { type ModelFacts, readModelFacts } from "./model-facts.js";
export { Pool } from "./pool.js";
export type { PoolModel } from "./pool-model.js";
