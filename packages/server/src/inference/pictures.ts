import type {
  AskedGeneration,
  GenerationMessage,
  GenerationRequest,
  NamedPicture,
} from "../formats/index.js";
import type { InferenceParts } from "./parts.js";

/**
 * The request with its pictures fetched and decoded, each in its place. To be called once the model is known to see,
 * and before anything of the engine's is asked for.
 * @throws SomnusError invalid_request that names the part, or the signal's reason
 */
export async function withPictures(
  { readPictures }: Pick<InferenceParts, "readPictures">,
  asked: AskedGeneration,
  signal: AbortSignal,
): Promise<GenerationRequest> {
  if (isAllText(asked)) return asked;
  const named = asked.messages.flatMap(({ parts }) => parts.filter(isPicture));
  const read = await readPictures(named, signal);
  const pictures = new Map(named.map((picture, at) => [picture, read[at]!]));
  const messages = asked.messages.map(
    (message): GenerationMessage => ({
      ...message,
      parts: message.parts.map((part) =>
        part.type === "text"
          ? part
          : { type: "picture", param: part.param, ...pictures.get(part)! },
      ),
    }),
  );
  return { ...asked, messages };
}

function isPicture(part: GenerationMessage<NamedPicture>["parts"][number]): part is NamedPicture {
  return part.type === "picture";
}

function isAllText(asked: AskedGeneration): asked is GenerationRequest<never> {
  return !asked.messages.some(({ parts }) => parts.some(isPicture));
}
