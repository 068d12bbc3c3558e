import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { parse } from "smol-toml";
import { Compile } from "typebox/compile";
import { SomnusError } from "../../http/errors.js";
import { catalogFault } from "./rules.js";
import { Catalog } from "./schema.js";

const check = Compile(Catalog);

/** The catalog that comes with the product. */
const CATALOG_FILE = fileURLToPath(
  new URL("../../../../../config/models.catalog.toml", import.meta.url),
);

/**
 * Reads a catalog.
 * @throws SomnusError model_unavailable when the file is missing, no TOML or not a catalog; it names the place
 */
export async function readCatalog(file: string = CATALOG_FILE): Promise<Catalog> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    throw new SomnusError(
      "model_unavailable",
      `The model catalog cannot be read: ${(error as Error).message}`,
      { cause: error },
    );
  }
  return parseCatalog(text);
}

/**
 * The catalog that a TOML text holds.
 * @throws SomnusError model_unavailable when it is no TOML or not a catalog; it names the place
 */
export function parseCatalog(text: string): Catalog {
  let value: unknown;
  try {
    value = parse(text);
  } catch (error) {
    throw new SomnusError(
      "model_unavailable",
      `The model catalog cannot be read: ${(error as Error).message}`,
      { cause: error },
    );
  }
  if (!check.Check(value)) throw wrong(shapeFault(value));
  const fault = catalogFault(value);
  if (fault !== null) throw wrong(fault);
  return value;
}

function wrong(fault: string): SomnusError {
  return new SomnusError("model_unavailable", `The model catalog is wrong ${fault}`);
}

/** The deepest place at which the value has another shape: of a choice between shapes, the nearest one. */
function shapeFault(value: unknown): string {
  const depth = (path: string) => path.split("/").length;
  const [first] = [...check.Errors(value)].sort(
    (a, b) => depth(b.instancePath) - depth(a.instancePath),
  );
  return `at ${first?.instancePath || "its top"}${nameOf(value, first?.instancePath)}: it ${first?.message}.`;
}

/** The id of the model that a place lies in, for people who do not count blocks. */
function nameOf(value: unknown, path: string | undefined): string {
  const [, index] = /^\/models\/(\d+)/.exec(path ?? "") ?? [];
  if (index === undefined) return "";
  const { id } = (value as { models: { id?: unknown }[] }).models[Number(index)] ?? {};
  return typeof id === "string" ? ` (${id})` : "";
}
