import type { Config } from "../config/index.js";

/** What can be done with a model that has just come, as a sentence after another one; "" for nothing. */
export function nextStep(
  config: Config,
  { id, modality }: { id: string; modality: string },
): string {
  const isServed =
    config.models.length === 0
      ? config.pool.serve_installed
      : config.models.some((block) => block.id === id);
  if (!isServed) return ` Serve it with a [[models]] block of the configuration: id = "${id}"`;
  return modality === "text_generation" ? ` Chat with it: somnus run ${id}` : "";
}

/** That nobody has run a model with this version. */
export function untestedNote(id: string): string {
  return `${id} was not tested with this version.`;
}
