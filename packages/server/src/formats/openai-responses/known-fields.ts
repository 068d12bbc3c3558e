import type { ResponsesPart, ResponsesTextFormat, ResponsesToolChoice } from "@somnus/contract";

/*
 * What a response repeats or keeps of its request is copied field by field: a client may send anything beside
 * the fields that are known, of any depth, and JSON.stringify reads by recursion.
 */

/** A part with the fields that are known of it. */
export function knownPart(part: ResponsesPart): ResponsesPart {
  switch (part.type) {
    case "input_text":
    case "output_text":
      return { type: part.type, text: part.text };
    case "refusal":
      return { type: part.type, refusal: part.refusal };
    case "input_image":
      return { type: part.type, ...given(part, ["image_url", "file_id", "detail"]) };
    case "input_audio": {
      const { data } = part.input_audio;
      return { type: part.type, input_audio: { data, ...given(part.input_audio, ["format"]) } };
    }
    case "input_file":
      return { type: part.type, ...given(part, ["file_id", "file_url", "file_data", "filename"]) };
  }
}

/** A choice of tools with the fields that are known of it. */
export function knownChoice(choice: ResponsesToolChoice): ResponsesToolChoice {
  if (typeof choice === "string") return choice;
  const { type, tools } = choice;
  return {
    type,
    ...given(choice, ["name", "mode"]),
    ...(tools == null
      ? {}
      : { tools: tools.map((tool) => ({ type: tool.type, ...given(tool, ["name"]) })) }),
  };
}

/** A form of the text with the fields that are known of it. */
export function knownFormat(format: ResponsesTextFormat): ResponsesTextFormat {
  if (format.type !== "json_schema") return { type: format.type };
  const { type, schema } = format;
  return { type, schema, ...given(format, ["name", "description", "strict"]) };
}

function given<T extends object, K extends keyof T>(from: T, names: readonly K[]): Pick<T, K> {
  const entries = names.filter((name) => from[name] != null).map((name) => [name, from[name]]);
  return Object.fromEntries(entries) as Pick<T, K>;
}
