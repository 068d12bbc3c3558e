const PREFIXES = {
  message: "msg",
  reasoning: "rs",
  function_call: "fc",
  function_call_output: "fco",
} as const;

type ItemType = keyof typeof PREFIXES;

const RESPONSE = /^resp_([0-9a-f]{32})$/;
const ITEM = /^(?:msg|rs|fc|fco)_([0-9a-f]{32})([io])([0-9a-f]{1,6})$/;

/** Where an item stands. */
export interface ItemPlace {
  responseId: string;
  part: "input" | "output";
  index: number;
}

/** The id of a response. @param hex 32 random hexadecimal digits */
export function responseIdOf(hex: string): string {
  return `resp_${hex}`;
}

/** Whether a text can be the id of a response. */
export function isResponseId(id: string): boolean {
  return RESPONSE.test(id);
}

/** The id of an item. It tells its place, so that a reference to it needs no index of its own. */
export function itemIdOf(type: ItemType, { responseId, part, index }: ItemPlace): string {
  const hex = responseId.slice("resp_".length);
  return `${PREFIXES[type]}_${hex}${part === "input" ? "i" : "o"}${index.toString(16)}`;
}

/** The place that an item's id tells; null where the id is not one of ours. */
export function itemPlaceOf(id: string): ItemPlace | null {
  const match = ITEM.exec(id);
  if (!match) return null;
  const [, hex = "", part, index = ""] = match;
  return {
    responseId: responseIdOf(hex),
    part: part === "i" ? "input" : "output",
    index: Number.parseInt(index, 16),
  };
}
