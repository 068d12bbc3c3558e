import type { ResponsesAnswer, ResponsesKeptItem } from "@somnus/contract";

/** A response that has ended, with the input of its request. */
export interface KeptResponse {
  readonly response: ResponsesAnswer;
  readonly input: readonly ResponsesKeptItem[];
}

/** Where responses are kept. A response is its owner's alone; for others it is not there. */
export interface ResponseKeeper {
  /** Whether a response with this input, which repeats this of its request, will be kept. */
  canKeep(known: { readonly input: readonly ResponsesKeptItem[]; readonly echo: object }): boolean;
  /** Returns at once; whoever asks from then on finds it, unless its answer made it too large. */
  save(owner: string, kept: KeptResponse): void;
  get(owner: string, id: string): Promise<KeptResponse | null>;
  /** Those of them that are kept, in no order. */
  some(owner: string, ids: readonly string[]): Promise<KeptResponse[]>;
  /** A response and all that it goes on from, the oldest first; null when one of them is not kept. */
  chain(owner: string, id: string): Promise<KeptResponse[] | null>;
  /** False when it was not kept. */
  remove(owner: string, id: string): Promise<boolean>;
}
