import type { Model } from "@somnus/client";
import type { Connection } from "../connection.js";
import { CliFailure } from "../failure.js";

/**
 * The id of the model to chat with: the one asked for, else the server's default, else one that is
 * loaded, else the first that writes text.
 * @throws CliFailure when the server has none; SomnusClientError for one that it does not know
 */
export async function chooseModel(
  { client }: Connection,
  wanted: string | undefined,
): Promise<string> {
  if (wanted !== undefined) return (await client.models.show(wanted)).id;
  const models = (await client.models.list()).filter(writesText);
  const model =
    models.find((one) => one.default) ?? models.find((one) => one.resident) ?? models[0];
  if (model !== undefined) return model.id;
  throw new CliFailure("The server has no model to chat with.", {
    advice: "See what can be had with `somnus catalog` and fetch one with `somnus pull ID`.",
  });
}

/** Whether a model answers chats: vision models do, for one. */
export function writesText(model: Model): boolean {
  return model.modality === "text_generation" || model.modality === "vision";
}
