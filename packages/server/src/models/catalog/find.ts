import type { Catalog, CatalogModel, CatalogVariant } from "./schema.js";

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
