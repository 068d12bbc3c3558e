import {
  type GenerationEvent,
  type GenerationRequest,
  holdSchema,
  isObject,
  outOfBounds,
} from "../formats/index.js";
import { SomnusError } from "../http/index.js";

/** The events of answers that have to be JSON; the end of one that is not is an error. */
export async function* wholeJson(
  events: AsyncIterable<GenerationEvent>,
  json: NonNullable<GenerationRequest["json"]>,
  /** Whether an answer that its limit or a stop string has cut is told by its finish alone. */
  mayBeCut: boolean,
): AsyncGenerator<GenerationEvent, void, void> {
  const held = json.schema && holdSchema(json.schema);
  const texts = new Map<number, string>();
  const called = new Set<number>();
  for await (const event of events) {
    if (event.type === "text") {
      texts.set(event.choice, (texts.get(event.choice) ?? "") + event.text);
    } else if (event.type === "call") {
      called.add(event.choice);
    } else if (event.type === "finish" && !called.has(event.choice)) {
      const cutBy = event.stop === undefined ? event.reason : "a stop string";
      const isCut = cutBy !== "stop";
      if (!(isCut && mayBeCut)) requireJson(texts.get(event.choice) ?? "", held, cutBy);
    }
    yield event;
  }
}

function requireJson(
  text: string,
  held: Readonly<Record<string, unknown>> | undefined,
  cutBy: string,
): void {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw invalid(
      `The answer is not whole JSON${placeOf(error, text)}. ${ADVICE[cutBy] ?? "Try again."}`,
      error,
    );
  }
  if (held === undefined) {
    if (isObject(value)) return;
    throw invalid("The answer is JSON, but not an object. Try again.");
  }
  const at = outOfBounds(value, held);
  if (at !== null) {
    throw invalid(
      `The answer does not fit its schema at ${at === "" ? "its root" : at}. Try again.`,
    );
  }
}

const ADVICE: Readonly<Record<string, string>> = {
  length: "It reached its limit of tokens: raise max_tokens.",
  "a stop string": "A stop string ended it: leave stop out.",
};

/** Where a text stops to be JSON, as people count and the parser tells; empty where it does not. */
function placeOf(error: unknown, text: string): string {
  const message = error instanceof Error ? error.message : "";
  const [, position] = /position (\d+)/.exec(message) ?? [];
  if (position === undefined && !message.includes("end of JSON")) return "";
  const before = text.slice(0, position === undefined ? text.length : Number(position)).split("\n");
  return `: it goes wrong at line ${before.length}, column ${before.at(-1)!.length + 1}`;
}

function invalid(message: string, cause?: unknown): SomnusError {
  return new SomnusError("invalid_model_output", message, { cause });
}
