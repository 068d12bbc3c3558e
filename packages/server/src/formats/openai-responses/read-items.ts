import type {
  ResponsesInputItem,
  ResponsesKeptItem,
  ResponsesOutputItem,
  ResponsesRequest,
} from "@somnus/contract";
import { SomnusError } from "../../http/errors.js";
import { isResponseId, itemIdOf, itemPlaceOf } from "./item-ids.js";
import { knownPart } from "./known-fields.js";

/** A response that was kept, with its input. */
export interface KeptExchange {
  readonly id: string;
  readonly input: readonly ResponsesKeptItem[];
  readonly output: readonly ResponsesOutputItem[];
}

/** What a request refers to: the responses that must be at hand before it can be read. */
export interface Needed {
  /** The response it goes on from. */
  readonly previous: string | null;
  /** Responses whose items it names. */
  readonly responses: readonly string[];
}

/** What was found of it. */
export interface Found {
  /** The responses that lead up to the request, the oldest first. */
  readonly chain: readonly KeptExchange[];
  readonly responses: readonly KeptExchange[];
}

/** An item of a conversation and the field that it came by. */
export interface PlacedItem {
  readonly item: ResponsesKeptItem;
  readonly path: string;
}

/**
 * Which kept responses a request refers to.
 * @throws SomnusError invalid_request naming previous_response_id when it is no response's id
 */
export function neededBy(body: ResponsesRequest): Needed {
  const previous = body.previous_response_id ?? null;
  if (previous !== null && !isResponseId(previous)) throw notKept(previous);
  const responses = new Set<string>();
  if (typeof body.input !== "string") {
    for (const item of body.input) {
      const place = item.type === "item_reference" ? itemPlaceOf(item.id) : null;
      if (place) responses.add(place.responseId);
    }
  }
  return { previous, responses: [...responses] };
}

/** The refusal of a `previous_response_id` that leads nowhere. */
export function notKept(id: string): SomnusError {
  return invalid(
    "previous_response_id",
    `The response ${JSON.stringify(id.slice(0, 80))} or one that it goes on from is not kept here; send the conversation as input instead.`,
  );
}

/**
 * The request's own input as items with ids: a text is one message, references are replaced by what
 * they refer to, and thoughts are left out.
 * @throws SomnusError invalid_request that names the field
 */
export function readItems(
  body: ResponsesRequest,
  responseId: string,
  found: Pick<Found, "responses">,
): PlacedItem[] {
  const input: ResponsesInputItem[] =
    typeof body.input === "string" ? [{ role: "user", content: body.input }] : body.input;
  const items: PlacedItem[] = [];
  for (const [i, item] of input.entries()) {
    const path = typeof body.input === "string" ? "input" : `input[${i}]`;
    const meant = item.type === "item_reference" ? refer(item.id, path, found) : item;
    if (meant.type === "reasoning") continue;
    items.push({ item: keep(meant, responseId, items.length), path });
  }
  return items;
}

/** The items of responses that were kept, without their thoughts. */
export function keptItems(chain: readonly KeptExchange[]): PlacedItem[] {
  return chain.flatMap(({ id, input, output }) => [
    ...input.map((item) => ({ item, path: "previous_response_id" })),
    ...output.flatMap((item, index) =>
      item.type === "reasoning"
        ? []
        : [{ item: keep(item, id, index), path: "previous_response_id" }],
    ),
  ]);
}

type Meant = Exclude<ResponsesInputItem, { type: "item_reference" }> | ResponsesOutputItem;

function refer(id: string, path: string, found: Pick<Found, "responses">): Meant {
  const place = itemPlaceOf(id);
  const exchange = found.responses.find((one) => one.id === place?.responseId);
  const item = place && exchange?.[place.part][place.index];
  if (item) return item;
  throw invalid(
    `${path}.id`,
    `${path}.id names an item that is not kept here; send the item itself instead.`,
  );
}

function keep(
  item: Exclude<Meant, { type: "reasoning" }>,
  responseId: string,
  index: number,
): ResponsesKeptItem {
  const place = { responseId, part: "input" as const, index };
  switch (item.type) {
    case "function_call":
      return {
        type: item.type,
        id: itemIdOf(item.type, place),
        status: "completed",
        call_id: item.call_id,
        name: item.name,
        ...(item.namespace == null ? {} : { namespace: item.namespace }),
        arguments: item.arguments,
      };
    case "function_call_output":
      return {
        type: item.type,
        id: itemIdOf(item.type, place),
        status: "completed",
        call_id: item.call_id,
        output: typeof item.output === "string" ? item.output : item.output.map(knownPart),
      };
    default: {
      const type = item.role === "assistant" ? "output_text" : "input_text";
      return {
        type: "message",
        id: itemIdOf("message", place),
        role: item.role,
        status: "completed",
        content:
          typeof item.content === "string"
            ? [{ type, text: item.content }]
            : item.content.map(knownPart),
      };
    }
  }
}

function invalid(param: string, message: string): SomnusError {
  return new SomnusError("invalid_request", message, { param });
}
