import { MODEL_DEFAULTS } from "./defaults.js";
import type { ModelConfig } from "./schema/index.js";

/** A `[[models]]` block with every default filled. */
export function filledModel(values: Partial<ModelConfig> & { id: string }): ModelConfig {
  return { ...MODEL_DEFAULTS, ...values } as ModelConfig;
}
