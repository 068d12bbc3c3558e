/**
 * What the schema of a setting says beyond JSON Schema. The keywords are read by the loader, by
 * the reference page and by `config show`; validators that do not know them pass over them.
 */
export type SettingKeywords = {
  /** One sentence or two for the reference page and for editors; plain text on one line. */
  description: string;
  default?: unknown;
  /** `later`: accepted with a warning, nothing reads it yet. `refused`: setting it is an error. */
  effect?: "later" | "refused";
  /** Never shown: not by `config show`, not in an error. */
  secret?: true;
  /** A file or folder. A relative one counts from the configuration file or from the models folder. */
  path?: "config_folder" | "models_folder";
  /** The default in words, where it depends on the machine. */
  computed?: string;
  /** Completes "must ..." when `pattern` does not match. */
  must?: string;
};

/** The part of JSON Schema that the configuration is written in, as the loader walks it. */
export interface SchemaNode extends Partial<SettingKeywords> {
  readonly type?: "object" | "array" | "string" | "integer" | "number" | "boolean";
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly SchemaNode[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | SchemaNode;
  readonly items?: SchemaNode;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly minLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
}
