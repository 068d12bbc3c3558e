export {
  type Catalog,
  type CatalogModel,
  type CatalogVariant,
  defaultVariant,
  findInCatalog,
  readCatalog,
} from "./catalog.js";
export { installVariant, isInstalled } from "./install.js";
export { Pool } from "./pool.js";
export type { PoolModel } from "./pool-model.js";
