import { join } from "node:path";
import { inject } from "vitest";
import { findInCatalog, readCatalog } from "../src/models/index.js";
import type { TEST_MODELS } from "./real-engine/setup.js";

/** The llama-server that the set-up brought. */
export function realEngineBinary(): string {
  return inject("enginePath");
}

/** The file of a real model that the set-up brought. */
export async function realModel(id: (typeof TEST_MODELS)[number]): Promise<string> {
  const found = findInCatalog(await readCatalog(), id)!;
  return join(inject("modelsDir"), found.variant.files[0]!.file);
}
