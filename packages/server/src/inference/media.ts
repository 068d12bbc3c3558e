import type {
  AskedGeneration,
  GenerationMessage,
  GenerationRequest,
  NamedMedia,
} from "../formats/index.js";
import type { InferenceParts } from "./parts.js";

/**
 * The request with its pictures and sounds fetched and decoded, each in its place. To be called once the model is
 * known to see or hear, and before anything of the engine's is asked for.
 * @throws SomnusError invalid_request that names the part, or the signal's reason
 */
export async function withMedia(
  { readMedia }: Pick<InferenceParts, "readMedia">,
  asked: AskedGeneration,
  signal: AbortSignal,
): Promise<GenerationRequest> {
  if (isAllText(asked)) return asked;
  const named = asked.messages.flatMap(({ parts }) => parts.filter(isMedia));
  const read = await readMedia(named, signal);
  const byName = new Map(named.map((part, at) => [part, read[at]!]));
  const messages = asked.messages.map(
    (message): GenerationMessage => ({
      ...message,
      parts: message.parts.map((part) => (part.type === "text" ? part : byName.get(part)!)),
    }),
  );
  return { ...asked, messages };
}

function isMedia(part: GenerationMessage<NamedMedia>["parts"][number]): part is NamedMedia {
  return part.type !== "text";
}

function isAllText(asked: AskedGeneration): asked is GenerationRequest<never> {
  return !asked.messages.some(({ parts }) => parts.some(isMedia));
}
