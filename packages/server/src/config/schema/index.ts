import Type, { type Static } from "typebox";
import { DEFAULTS } from "../defaults.js";
import { LimitSettings } from "./limits.js";
import { EngineSettings, HardwareSettings, PathSettings } from "./machine.js";
import { ModelSettings, PoolSettings } from "./models.js";
import { ResponsesSettings } from "./responses.js";
import { ServerSettings } from "./server.js";
import { Table } from "./settings.js";

/**
 * The whole configuration with every default in place, keys spelled as in the file. In the file
 * itself whatever has a default may be left out.
 */
export const ConfigSchema = Table(
  {
    config_version: Type.Literal(1, {
      default: DEFAULTS.config_version,
      description: "The version of this file's format.",
    }),
    server: ServerSettings,
    limits: LimitSettings,
    responses: ResponsesSettings,
    pool: PoolSettings,
    aliases: Type.Unsafe<Record<string, string>>({
      type: "object",
      additionalProperties: { type: "string", minLength: 1, description: "The id of a model." },
      default: DEFAULTS.aliases,
      description:
        'Other names for models: `"name" = "model id"`. A `*` in the name stands for any characters; an exact name wins over one with `*`, and a model\'s own id over both.',
    }),
    models: Type.Array(ModelSettings, {
      default: DEFAULTS.models,
      description: "The models of the pool, one `[[models]]` block each.",
    }),
    engines: EngineSettings,
    hardware: HardwareSettings,
    paths: PathSettings,
  },
  { description: "The configuration of Somnus." },
);

type DeepReadonly<T> = T extends readonly (infer I)[]
  ? readonly DeepReadonly<I>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;

/** The configuration in force: complete, checked, and frozen all the way down. */
export type Config = DeepReadonly<Static<typeof ConfigSchema>>;

/** One `[[models]]` block with its defaults in place. */
export type ModelConfig = Config["models"][number];
