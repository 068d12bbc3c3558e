import type { TokenLogprob } from "@somnus/contract";

/** A picture as a request names it, not looked at yet. */
export interface NamedPicture {
  type: "picture";
  /** By a URL, `data:` among them, or as the bytes of a file in base64. */
  source: { url: string } | { base64: string };
  /** Where it stands in the request, for errors. */
  param: string;
}

/** A picture as an engine gets it. */
export interface Picture {
  type: "picture";
  /** A PNG file. */
  png: Buffer;
  /** SHA-256 of the file, hexadecimal: the same picture has the same. */
  digest: string;
  param: string;
}

/** A sound as a request carries it, not listened to yet. */
export interface NamedSound {
  type: "sound";
  /** A file, in base64 or as a `data:` URL. */
  data: string;
  /** What the request says that the file is; null: nothing. */
  format: string | null;
  /** Where it stands in the request, for errors. */
  param: string;
}

/** A sound as an engine gets it. */
export interface Sound {
  type: "sound";
  /** A WAV file: PCM, 16 bits, mono, 16 kHz. */
  wav: Buffer;
  /** SHA-256 of the file, hexadecimal: the same sound has the same. */
  digest: string;
  param: string;
}

export type NamedMedia = NamedPicture | NamedSound;
export type Media = Picture | Sound;

/** A piece of a message; its pictures and sounds have been read, or are still `NamedMedia`. */
export type MessagePart<Shown = Media> = { type: "text"; text: string } | Shown;

/** A function that the model asked its client to run. */
export interface ToolCall {
  id: string;
  name: string;
  /** A JSON object as text. */
  arguments: string;
}

/** One message of a conversation. */
export interface GenerationMessage<Shown = Media> {
  role: "system" | "user" | "assistant" | "tool";
  /** In the order in which the model is to have them. */
  parts: MessagePart<Shown>[];
  /** Of an assistant: the calls that it ended with, in their order. */
  calls?: ToolCall[];
  /** Of a tool: the call whose result this is, and the function that was called. */
  result?: { callId: string; name: string };
}

/** A function that the model may ask its client to run. */
export interface Tool {
  name: string;
  description?: string;
  /** JSON schema of its arguments, an object. */
  parameters: Record<string, unknown>;
}

/** The functions on offer, and how far the model is free to call them. */
export interface ToolOffer {
  tools: Tool[];
  /** "auto": the model decides; "required": one of them at least; a name: that one. */
  choice: "auto" | "required" | { name: string };
  /** Whether one answer may hold several calls. */
  parallel: boolean;
  /** Whether the model is told of them in words, whatever its template knows. */
  prompted?: boolean;
}

/** How tokens are chosen; what is absent is left to the model's defaults, then to the engine's. */
export interface Sampling {
  temperature?: number;
  topP?: number;
  topK?: number;
  minP?: number;
  repeatPenalty?: number;
  presencePenalty?: number;
  frequencyPenalty?: number;
  /** Token id to bias. */
  logitBias?: Record<string, number>;
  seed?: number;
}

/** A text that a model goes on with as it is, without a template: in words, or as its token ids. */
export type RawPrompt =
  /** `suffix`: what is generated stands before it. */
  { text: string; suffix?: string } | { tokens: readonly number[] };

/** What a text model is asked for, whatever format the client speaks. */
export interface GenerationRequest<Shown = Media> {
  messages: GenerationMessage<Shown>[];
  /**
   * In place of messages, one or more. Each has `choices` answers: those of the first come first, and their
   * indexes run on through all.
   */
  prompts?: readonly RawPrompt[];
  /** Most tokens to generate for one choice, already clamped. */
  maxTokens: number;
  sampling: Sampling;
  stop: string[];
  /** Alternatives wanted, one or more. */
  choices: number;
  /** Most likely tokens to report in each place; absent when no log probabilities were asked for. */
  topLogprobs?: number;
  /** The JSON the answer must be: any object, or what fits the schema, to which an answer can be held. */
  json?: { schema?: Readonly<Record<string, unknown>> };
  /** Absent: no functions are shown to the model. */
  offer?: ToolOffer;
  /** Whether a model that can think shall think. */
  think: boolean;
  /** Most tokens of thoughts; absent: as many as the model wants. */
  thinkBudgetTokens?: number;
  /** Tokens of context the client asked to reserve (`num_ctx`). */
  contextTokens?: number;
}

/** The same as a format reads it: its media are fetched and decoded once the request is known to be served. */
export type AskedGeneration = GenerationRequest<NamedMedia>;

/** What a model must be able to do for a request, and the field that asks for it. */
export interface CapabilityWant {
  capability: "vision" | "audio" | "tools" | "thinking" | "not thinking";
  param: string;
}

/** Why a choice ended. */
export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter";

/** Tokens of one choice, as its engine or its vendor counted them. */
export interface TokenUsage {
  promptTokens: number;
  completionTokens: number;
  /** Of the prompt: those that were taken from a cache. */
  cachedTokens: number;
  /** Of the prompt: those that a vendor wrote to its cache; absent where it did not say. */
  cacheWriteTokens?: number;
  /** Of the completion: those of thoughts; absent where nobody counted them. */
  reasoningTokens?: number;
}

/** Measured by the engine; durations in ms. */
export interface EngineTimings {
  prefillMs?: number;
  decodeMs?: number;
  /** Prompt tokens that were computed (not taken from the cache). */
  prefillTokens?: number;
  decodeTokens?: number;
}

/**
 * The one internal stream: every engine and every vendor format ends here, every writer starts here.
 * A failure is a thrown SomnusError, not an event.
 */
export type GenerationEvent =
  | { type: "start"; promptTokens?: number; cachedTokens?: number }
  | { type: "progress"; promptTokens: number; cachedTokens: number; done: number }
  | { type: "reasoning"; choice: number; text: string }
  | { type: "text"; choice: number; text: string; logprobs?: TokenLogprob[] }
  /** The model says that it will not answer; only vendors tell this apart from text. */
  | { type: "refusal"; choice: number; text: string }
  /** A call has begun, which follows whole as soon as its arguments are; for who waits, not to be written. */
  | { type: "calling"; choice: number; name: string }
  /** A whole call; its arguments parse. */
  | { type: "call"; choice: number; call: ToolCall }
  /** `stop`: the stop string that ended it, where that is known; absent at the model's own end, too. */
  | { type: "finish"; choice: number; reason: FinishReason; stop?: string }
  | { type: "usage"; choice: number; usage: TokenUsage; timings?: EngineTimings };
