/** What a model id is made of; segments and reserved names are checked by `modelIdProblem`. */
export const MODEL_ID_PATTERN = "^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$";
export const MODEL_ID_MUST =
  "start with a letter or digit and hold at most 128 letters, digits and . _ : / -";

/** Names that mean something else wherever a model id can stand. */
export const RESERVED_MODEL_IDS: readonly string[] = [
  "catalog",
  "downloads",
  "auto",
  "cheap",
  "coding",
  "reason",
  "vision",
  "search",
];

/** Why `id` cannot be a model's id, as the end of a sentence ("... must not be empty"), or null. */
export function modelIdProblem(id: string): string | null {
  if (!new RegExp(MODEL_ID_PATTERN).test(id)) return `must ${MODEL_ID_MUST}`;
  if (id.split("/").some((segment) => segment === "" || segment === "." || segment === "..")) {
    return 'must have no empty part, "." or ".." between its slashes';
  }
  if (RESERVED_MODEL_IDS.includes(id)) {
    return `is reserved; these names cannot be used: ${RESERVED_MODEL_IDS.join(", ")}`;
  }
  return null;
}
