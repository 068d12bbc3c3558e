import { SomnusError } from "../http/errors.js";
import type { ToolOffer } from "./generation.js";
import { MOST_COST, schemaCost } from "./schema-cost.js";

/**
 * That the functions on offer, which are a part of the prompt, have at most `limit` characters together as JSON,
 * and that an engine can hold an answer to all of them.
 * @param field the one that holds them
 * @throws SomnusError invalid_request naming it
 */
export function requireOfferWithin(
  offer: ToolOffer | undefined,
  limit: number,
  field = "tools",
): void {
  let characters = 0;
  let cost = 0;
  for (const { name, description = "", parameters } of offer?.tools ?? []) {
    characters += name.length + description.length + JSON.stringify(parameters).length;
    cost += schemaCost(parameters);
  }
  if (characters > limit) {
    throw new SomnusError(
      "invalid_request",
      `The functions in ${field} have ${characters} characters; the limit is ${limit} (limits.max_prompt_chars).`,
      { param: field },
    );
  }
  if (cost > MOST_COST) {
    throw new SomnusError(
      "invalid_request",
      `The functions in ${field} have so many optional parameters, or ones of so great a length, that no answer can be held to them; offer fewer.`,
      { param: field },
    );
  }
}
