/** How the items of a stream are put on the wire as server-sent events. */
export interface EventFraming {
  /** One item as an event. @throws what JSON cannot hold */
  item(value: unknown): string;
  /** What is sent in silence, so that nobody on the way takes the connection for dead. */
  silence(): string;
  /** What ends a stream; empty where its last item does. */
  readonly end: string;
}

/** Unnamed events that end with `[DONE]`; silence is filled with comments. The form of OpenAI's streams. */
export const CHUNKS: EventFraming = {
  item: (value) => `data: ${JSON.stringify(value)}\n\n`,
  silence: () => ": keep-alive\n\n",
  end: "data: [DONE]\n\n",
};

/**
 * Events named by their items' `type`; the last of them ends the stream.
 * @param silence makes the event that fills silence
 */
export function namedEvents(silence: () => { readonly type: string }): EventFraming {
  const item = (value: unknown) =>
    `event: ${(value as { type: string }).type}\ndata: ${JSON.stringify(value)}\n\n`;
  return { item, silence: () => item(silence()), end: "" };
}
