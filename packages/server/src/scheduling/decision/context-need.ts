import type { GenerationRequest, RawPrompt } from "../../formats/index.js";
import type { ContextNeed } from "../state/state.js";

/** Least context a request reserves, as the first contract has it. */
const CONTEXT_FLOOR_TOKENS = 2048;
/** A chat template's own text: a default system prompt, markers around the conversation. */
const TEMPLATE_TOKENS = 512;
/** What a token stands for in running text, on the safe side. */
const ESTIMATED_BYTES_PER_TOKEN = 3;
/** Role markers and line ends around one message. */
const MESSAGE_TOKENS = 32;
/** What a template says of how functions are called. */
const OFFER_TOKENS = 1024;
/** Special tokens around a raw prompt, and those that mark a gap in it. */
const FRAME_TOKENS = 16;
/** Tags and keys around one call, or around its result. */
const CALL_TOKENS = 96;

/** What a medium is taken to need until its model's engine has counted it, as the first contract has it. */
const MEDIUM_TOKENS = { picture: 576, sound: 1024 };

/**
 * A bound on a request's prompt that holds for every tokenizer with byte fallback: a token stands
 * for one byte or more. Cheap, so that most requests need no count by the engine. Nothing bounds the tokens of a
 * picture or a sound, so a request with one is always counted.
 */
export function needOf(request: GenerationRequest): ContextNeed {
  if (request.prompts) return needOfPrompts(request, request.prompts);
  let promptBound = TEMPLATE_TOKENS;
  let promptEstimate = 0;
  let ofMedia = 0;
  const add = (text: string) => {
    const bytes = Buffer.byteLength(text);
    promptBound += bytes;
    promptEstimate += bytes / ESTIMATED_BYTES_PER_TOKEN;
  };
  if (request.offer) {
    promptBound += OFFER_TOKENS;
    promptEstimate += OFFER_TOKENS / ESTIMATED_BYTES_PER_TOKEN;
    const { tools } = request.offer;
    add(JSON.stringify(tools));
    // Some templates write them with line breaks and so many spaces.
    promptBound += indentation(tools, 4);
  }
  for (const message of request.messages) {
    promptBound += MESSAGE_TOKENS;
    for (const part of message.parts) {
      if (part.type === "text") add(part.text);
      else ofMedia += MEDIUM_TOKENS[part.type];
    }
    for (const call of message.calls ?? []) {
      promptBound += CALL_TOKENS;
      add(call.name);
      add(call.arguments);
    }
    if (message.result) {
      promptBound += CALL_TOKENS;
      add(message.result.name);
    }
  }
  return {
    promptBound: promptBound + ofMedia * ESTIMATED_BYTES_PER_TOKEN,
    promptEstimate: Math.ceil(promptEstimate) + ofMedia,
    ...(ofMedia > 0 ? { unbounded: true } : {}),
    maxTokens: request.maxTokens,
    ...(request.contextTokens === undefined ? {} : { asked: request.contextTokens }),
  };
}

/** Raw prompts are read one after the other in one slot: the longest of them counts. */
function needOfPrompts(request: GenerationRequest, prompts: readonly RawPrompt[]): ContextNeed {
  let bytes = 0;
  let tokens = 0;
  for (const prompt of prompts) {
    if ("tokens" in prompt) tokens = Math.max(tokens, prompt.tokens.length);
    else bytes = Math.max(bytes, Buffer.byteLength(prompt.text + (prompt.suffix ?? "")));
  }
  return {
    promptBound: Math.max(bytes, tokens) + FRAME_TOKENS,
    promptEstimate: Math.max(Math.ceil(bytes / ESTIMATED_BYTES_PER_TOKEN), tokens) + FRAME_TOKENS,
    maxTokens: request.maxTokens,
    ...(request.contextTokens === undefined ? {} : { asked: request.contextTokens }),
  };
}

/**
 * Characters that JSON has more when it is written with line breaks and so many spaces for each level, told without
 * writing it: what is deep and wide would have a hundred times its own length.
 */
export function indentation(value: unknown, spaces: number, level = 0): number {
  if (typeof value !== "object" || value === null) return 0;
  const isList = Array.isArray(value);
  let [members, inside] = [0, 0];
  for (const held of Object.values(value)) {
    if (held === undefined && !isList) continue;
    members++;
    inside += indentation(held, spaces, level + 1);
  }
  if (members === 0) return 0;
  const lines = members * (1 + spaces * (level + 1)) + 1 + spaces * level;
  return inside + lines + (isList ? 0 : members);
}

/** Tokens a request can use at most, from its count where there is one, else from the bound. */
export function withoutFloor(need: ContextNeed): number {
  return need.asked ?? (need.promptTokens ?? need.promptBound) + need.maxTokens;
}

/**
 * Tokens that a request is expected to use, for as long as nobody can count them: the bound would have a model
 * refused, or others thrown out, for context that the request does not need. The engine's count corrects it.
 */
export function expectedTokens(need: ContextNeed): number {
  // What needs none of the pool is no reason to load a model with less than the next request will need.
  if (need.asked === 0) return CONTEXT_FLOOR_TOKENS;
  const prompt = need.promptTokens ?? need.promptEstimate ?? need.promptBound;
  return need.asked ?? prompt + need.maxTokens;
}

/**
 * The least tokens that a request reserves: never more than a slot's even share of the pool, or a small pool
 * would serve one request at a time.
 */
export function floorOf(poolTokens: number, slots: number): number {
  return Math.min(CONTEXT_FLOOR_TOKENS, Math.floor(poolTokens / slots));
}

/** Tokens to reserve for a request. */
export function reservation(need: ContextNeed, pool: { tokens: number; slots: number }): number {
  return need.asked ?? Math.max(floorOf(pool.tokens, pool.slots), withoutFloor(need));
}

/** Whether the request's prompt has to be counted before it is known to fit the pool, or its `num_ctx`. */
export function mustCount(need: ContextNeed): boolean {
  if (need.promptTokens !== undefined) return false;
  if (need.unbounded === true) return true;
  return need.asked !== undefined && need.promptBound + need.maxTokens > need.asked;
}

/** Tokens a request may generate within its reservation. */
export function generationLimit(need: ContextNeed, reserved: number): number {
  return Math.min(need.maxTokens, reserved - (need.promptTokens ?? need.promptBound));
}
