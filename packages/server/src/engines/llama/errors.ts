import type { GenerationMessage } from "../../formats/index.js";
import { SomnusError } from "../../http/errors.js";
import type { ExitReason } from "../engine.js";

/** What may reach a client of an engine's own words, at most. */
const LONGEST_QUOTE = 300;
const OUT_OF_MEMORY = /out of memory|failed to allocate|unable to allocate/i;
/** Longer than any message of an engine, unless it quotes what a client sent. */
const LONGEST_MESSAGE = 4_000;
/** Absolute paths, and the source positions that assertions carry; before them places in a schema (`#/$defs/a`). */
const PATH =
  /#(?:\/[\w.$~-]+)+|(?:[A-Za-z]:)?(?:[\\/][\w.@+~-]+){2,}(?::\d+)?|\b[\w-]+\.(?:cpp|cu|c|h|hpp|m|metal)(?::\d+)?\b/g;

/**
 * The error that llama-server answered, as ours. It keeps the sense of the engine's message, never
 * a path or an assertion.
 * @param status HTTP status of the answer, or of the error object inside a stream
 * @param body parsed JSON of the answer; anything else is read as an unexplained failure
 * @param schemaOf the field whose schema the request carried
 */
export function engineError(
  status: number,
  body: unknown,
  schemaOf: "response_format" | "tools" = "response_format",
): SomnusError {
  const error = field(body, "error") ?? body;
  const type = field(error, "type");
  const message = String(field(error, "message") ?? "").slice(0, LONGEST_MESSAGE);
  if (type === "exceed_context_size_error") {
    const prompt = Number(field(error, "n_prompt_tokens"));
    const context = Number(field(error, "n_ctx"));
    return contextExceeded(
      Number.isFinite(prompt) ? prompt : null,
      Number.isFinite(context) ? context : null,
    );
  }
  const sense = quote(message);
  const asked = status === 400 || type === "invalid_request_error";
  if (asked && /json.?schema|grammar|schema error|\$ref/i.test(message)) {
    const detail = quote(/(?:JSON schema error|"json_schema")\s*(.*)$/is.exec(message)?.[1] ?? "");
    const tool = /#\/\$defs\/arguments(\d+)/.exec(message)?.[1];
    const param = tool === undefined ? schemaOf : `tools[${tool}].function.parameters`;
    return new SomnusError(
      "invalid_request",
      `The engine cannot follow this schema in ${param}${detail ? `: schema ${detail}` : ""}.`,
      { param, cause: body },
    );
  }
  if (asked) {
    return new SomnusError(
      "invalid_request",
      sense ? `The engine refused the request: ${sense}` : "The engine refused the request.",
      { cause: body },
    );
  }
  if (OUT_OF_MEMORY.test(message)) {
    return new SomnusError(
      "device_out_of_memory",
      "The engine ran out of memory during the request.",
      {
        cause: body,
      },
    );
  }
  if (/context size has been exceeded/i.test(message)) {
    return new SomnusError("engine_failed", "The model's shared context ran full. Try again.", {
      cause: body,
    });
  }
  return new SomnusError(
    "engine_failed",
    sense ? `The engine failed on this request: ${sense}` : "The engine failed on this request.",
    { cause: body },
  );
}

/** How the engine says that it can make nothing of an image or a sound; it does not say of which. */
const OF_MEDIA =
  /failed to load (image|audio)|failed to tokenize prompt|(image|audio) input is not supported/i;

/**
 * An error that the media of a request brought about, told as one of theirs; any other as it is. Names the part where
 * there is only one.
 */
export function withMediumOf(
  error: SomnusError,
  messages: readonly GenerationMessage[],
): SomnusError {
  if (error.code !== "engine_failed" && error.code !== "invalid_request") return error;
  if (!OF_MEDIA.test(error.message)) return error;
  const media = messages.flatMap(({ parts }) => parts.filter((part) => part.type !== "text"));
  const [first, ...others] = media;
  if (!first) return error;
  const param = others.length === 0 ? first.param : "messages";
  const called = first.type === "picture" ? "image" : "audio";
  const what = others.length === 0 ? `${called} in ${param}` : "images and sounds";
  const message = `The model's engine can make nothing of the ${what}.`;
  return new SomnusError("invalid_request", message, { param, cause: error });
}

/** How far back its log is read for what was behind a failure, lines. */
const LINES_OF_A_FAILURE = 20;

/**
 * An engine that could not have the memory for a computation says no more than that it failed; its log says why.
 * @param log its last lines, the newest last
 * @returns `device_out_of_memory` in that case, else the error as it is
 */
export function withReasonOf(error: SomnusError, log: readonly string[]): SomnusError {
  if (error.code !== "engine_failed" || !/compute error/i.test(error.message)) return error;
  const told = log.slice(-LINES_OF_A_FAILURE).some((line) => OUT_OF_MEMORY.test(line));
  if (!told) return error;
  const message = "The engine ran out of memory during the request.";
  return new SomnusError("device_out_of_memory", message, { cause: error });
}

/** @param prompt tokens of the request, @param context tokens that fit; null where not told */
export function contextExceeded(prompt: number | null, context: number | null): SomnusError {
  const numbers =
    prompt !== null && context !== null
      ? `This request has ${prompt} tokens, and the model's context holds ${context}.`
      : "This request is longer than the model's context.";
  return new SomnusError(
    "context_length_exceeded",
    `${numbers} Shorten the messages or raise num_ctx.`,
    {
      param: "messages",
    },
  );
}

/** The same error, where the request has a prompt in place of messages. */
export function aboutPrompt(error: SomnusError): SomnusError {
  if (error.param !== "messages") return error;
  const message = error.message.replace("the messages", "the prompt");
  return new SomnusError(error.code, message, { param: "prompt", cause: error });
}

/** The engine ended while it answered. */
export function exitError(exit: ExitReason): SomnusError {
  if (exit.kind === "out_of_memory") {
    return new SomnusError("device_out_of_memory", exit.message, { cause: exit });
  }
  const message =
    exit.kind === "closed"
      ? "The model was unloaded while it answered. Try again."
      : `The engine ended while it answered. ${exit.message}`;
  return new SomnusError("engine_failed", message, { cause: exit });
}

/** The connection broke, or the answer stopped half-way, while the engine lives. */
export function brokenAnswer(cause: unknown): SomnusError {
  return new SomnusError("engine_failed", "The engine broke off its answer. Try again.", { cause });
}

/** The engine gave no sign of life for a running request. */
export function stalled(ms: number): SomnusError {
  const silence = ms < 1000 ? `${ms} ms` : `${Math.round(ms / 1000)} s`;
  return new SomnusError("engine_timeout", `The engine gave no output for ${silence}. Try again.`);
}

function quote(text: string): string {
  const clean = text
    .replace(PATH, (found) => (found[0] === "#" ? found : "…"))
    .replace(/\s+/g, " ")
    .trim();
  return clean.length > LONGEST_QUOTE ? `${clean.slice(0, LONGEST_QUOTE)}…` : clean;
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null
    ? (value as Record<string, unknown>)[name]
    : undefined;
}
