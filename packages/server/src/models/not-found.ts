import { SomnusError } from "../http/errors.js";
import { nearest } from "../spelling/index.js";
import { type Catalog, findInCatalog } from "./catalog/index.js";
import { parseHubSpec } from "./hub/index.js";

/** What there is when a name means nothing. */
export interface NotFoundSituation {
  /** The name, or what an alias makes of it. */
  meant: string;
  /** Ids in the pool. */
  here: readonly string[];
  catalog: Catalog;
  /** Whether all that is installed is served, so that pulling a model is enough. */
  servesInstalled: boolean;
}

/** Names in a message that lists some. */
const SHOWN = 8;
/** A client may send a name of any length. */
const SHOWN_LENGTH = 128;

/** The refusal of a name that no model of the pool has, with what was meant or how to get it. */
export function modelNotFound(name: string, situation: NotFoundSituation): SomnusError {
  return new SomnusError(
    "model_not_found",
    `There is no model "${shortened(name)}". ${hintFor(situation)}`,
    { param: "model" },
  );
}

function hintFor(situation: NotFoundSituation): string {
  const { meant, here, catalog } = situation;
  // A client may send anything; what is not an id must not stand in a command to copy.
  const hub = /^[\w.:/@-]+$/.test(meant) ? parseHubSpec(meant) : null;
  const quants = hub ? here.filter((id) => id.startsWith(`${hub.repo}:`)) : [];
  const listed = findInCatalog(catalog, meant)?.model.id;
  if (listed && here.includes(listed)) return `Did you mean ${listed}?`;
  if (quants.length > 0) return `Did you mean ${quants.slice(0, SHOWN).join(" or ")}?`;
  if (listed || hub) return howToGet(shortened(listed ?? meant.trim()), situation);
  const near = nearest(meant, [...here, ...catalog.models.map(({ id }) => id)]);
  if (near && here.includes(near)) return `Did you mean ${near}?`;
  if (near) return `Did you mean ${near}? Get it with: somnus pull ${near}`;
  if (here.length > 0) return `Here are: ${here.slice(0, SHOWN).join(", ")}. More: somnus list`;
  return "No model is installed; what can be had: somnus catalog";
}

function howToGet(id: string, { servesInstalled }: NotFoundSituation): string {
  if (servesInstalled) return `It is not installed; get it with: somnus pull ${id}`;
  return (
    `The configuration does not list it: add a [[models]] block with id = "${id}", ` +
    `and get its file with: somnus pull ${id}`
  );
}

function shortened(name: string): string {
  return name.length > SHOWN_LENGTH ? `${name.slice(0, SHOWN_LENGTH)}...` : name;
}
