import type {
  ChatChunk,
  ChatRequest,
  ChatResponse,
  CompletionChunk,
  CompletionRequest,
  CompletionResponse,
  CountTokensRequest,
  CountTokensResponse,
  DetokenizeRequest,
  DetokenizeResponse,
  EmbeddingsRequest,
  EmbeddingsResponse,
  Health,
  InputTokens,
  KvPark,
  KvParkChange,
  MemoryStatus,
  MessagesEvent,
  MessagesRequest,
  MessagesResponse,
  Model,
  ModelList,
  MoeOffloadSet,
  Pinned,
  PinRequest,
  Ready,
  RerankRequest,
  RerankResponse,
  ResponsesAnswer,
  ResponsesDeleted,
  ResponsesEvent,
  ResponsesItems,
  ResponsesRequest,
  Root,
  TierMove,
  TierMoved,
  TokenizeRequest,
  TokenizeResponse,
} from "@somnus/contract";
import { SomnusClientError } from "./client-error.js";
import { readErrorResponse } from "./read-error.js";
import { readMessagesStream } from "./read-messages.js";
import { readResponsesStream } from "./read-responses.js";
import { readChatStream, readCompletionStream } from "./read-stream.js";

export interface SomnusClientOptions {
  /** Where the server is, with or without `/v1` at its end; `http://127.0.0.1:9999` by default. */
  readonly baseUrl?: string;
  /** Sent as `Authorization: Bearer <key>`. */
  readonly apiKey?: string | undefined;
  /** Sent with every call. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Used instead of the global `fetch`. */
  readonly fetch?: typeof fetch;
}

/** Options of one call. */
export interface CallOptions {
  /** Ends the call when it fires; the call then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Sent with this call, beside those of the client. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Options of a call that a model answers. */
export interface ModelCallOptions extends CallOptions {
  /** The longest that the call may wait until it starts, milliseconds; the server refuses it at once if it cannot. */
  readonly deadlineMs?: number;
  /** The model that will be called next: the server loads it meanwhile where that hurts nobody. */
  readonly nextModel?: string;
  /** The task that the call is part of; the server reports how long tasks of each name take. */
  readonly workflow?: {
    readonly name: string;
    readonly id: string;
    /** Whether this is its last call. */
    readonly end?: boolean;
  };
  /** Called when the head of the answer has come, also that of an error. */
  readonly onHead?: (head: AnswerHead) => void;
}

/** What the head of an answer tells. */
export interface AnswerHead {
  readonly status: number;
  readonly requestId: string | null;
  /** The wait that was expected when the call arrived, milliseconds; null where the server could not tell. */
  readonly estimatedWaitMs: number | null;
}

const DEFAULT_URL = "http://127.0.0.1:9999";

/**
 * A Somnus server, as a program sees it. Every call throws a SomnusClientError when it fails and
 * the reason of its signal when it was aborted; none of them retries.
 */
export class SomnusClient {
  /** The server's address without a slash at its end and without `/v1`. */
  readonly baseUrl: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #fetch: typeof fetch;

  /** @throws TypeError when `baseUrl` is not an http(s) URL */
  constructor(options: SomnusClientOptions = {}) {
    this.baseUrl = readBaseUrl(options.baseUrl ?? DEFAULT_URL);
    this.#headers = {
      ...(options.apiKey ? { authorization: `Bearer ${options.apiKey}` } : {}),
      ...options.headers,
    };
    // Browsers refuse a fetch that is called as a method of something else than the window.
    const given = options.fetch;
    this.#fetch = given ?? ((input, init) => fetch(input, init));
  }

  /** The models in service. */
  readonly models = {
    list: async (options?: CallOptions): Promise<Model[]> => {
      const list = await this.#json<ModelList>("GET", "/v1/models", options);
      if (!Array.isArray(list.data)) throw notOurs(this.baseUrl);
      return list.data;
    },
    /** One model by its id or by another name that the server has for it. */
    show: (id: string, options?: CallOptions): Promise<Model> =>
      this.#json("GET", `/v1/models/${encodeURIComponent(id)}`, options),
    /** Sets where the experts of a Mixture-of-Experts model run, until the server ends. */
    setMoeOffload: (
      id: string,
      mode: MoeOffloadSet["moe_offload"],
      options?: CallOptions,
    ): Promise<MoeOffloadSet> =>
      this.#json("POST", `/v1/models/${encodeURIComponent(id)}/moe-offload`, options, { mode }),
  };

  /** Where the models are, and what is left of each memory. */
  readonly memory = {
    status: (options?: CallOptions): Promise<MemoryStatus> =>
      this.#json("GET", "/v1/memory/status", options),
    /** Moves a model to another tier; to tier 1 it lasts as long as its load. */
    move: (move: TierMove, options?: CallOptions): Promise<TierMoved> =>
      this.#json("POST", "/v1/memory/tier", options, move),
    /** The conversations kept of models that are not loaded. */
    kvPark: (options?: CallOptions): Promise<KvPark> =>
      this.#json("GET", "/v1/memory/kv-park", options),
    /** Sets whether conversations are kept, and how much of them, until the server ends. */
    setKvPark: (change: KvParkChange, options?: CallOptions): Promise<KvPark> =>
      this.#json("POST", "/v1/memory/kv-park", options, change),
    /** Pins a model, so that it stays loaded once it is, or takes its pin away. */
    pin: (pin: PinRequest, options?: CallOptions): Promise<Pinned> =>
      this.#json("POST", "/v1/memory/pin", options, pin),
  };

  /** Conversations in the form of Anthropic's Messages API. */
  readonly messages = {
    /** The whole answer. */
    create: async (
      request: Omit<MessagesRequest, "stream">,
      options: ModelCallOptions = {},
    ): Promise<MessagesResponse> => {
      const body = { ...request, stream: false };
      return this.#answer(await this.#callModel("/v1/messages", options, body), options);
    },
    /** The answer, event by event, without the pings; otherwise as `chatStream`. */
    stream: (
      request: Omit<MessagesRequest, "stream">,
      options: ModelCallOptions = {},
    ): AsyncGenerator<MessagesEvent, void, void> =>
      this.#streamed("/v1/messages", options, request, readMessagesStream),
    /** How many tokens the prompt has. */
    countTokens: async (
      request: CountTokensRequest,
      options: ModelCallOptions = {},
    ): Promise<CountTokensResponse> =>
      this.#answer(await this.#callModel("/v1/messages/count_tokens", options, request), options),
  };

  /** Vectors of texts, or of their token ids, in their order. */
  embed(request: EmbeddingsRequest, options: ModelCallOptions = {}): Promise<EmbeddingsResponse> {
    return this.#askModel("/v1/embeddings", options, request);
  }

  /** Documents by how well they fit a query, the best first. */
  rerank(request: RerankRequest, options: ModelCallOptions = {}): Promise<RerankResponse> {
    return this.#askModel("/v1/rerank", options, request);
  }

  /** The tokens of a text. No other model leaves memory for it; the same holds for the next two. */
  tokenize(request: TokenizeRequest, options: ModelCallOptions = {}): Promise<TokenizeResponse> {
    return this.#askModel("/v1/tokenize", options, request);
  }

  /** The text of some tokens. */
  detokenize(
    request: DetokenizeRequest,
    options: ModelCallOptions = {},
  ): Promise<DetokenizeResponse> {
    return this.#askModel("/v1/detokenize", options, request);
  }

  /** How many tokens a conversation has as a prompt. */
  countTokens(request: ChatRequest, options: ModelCallOptions = {}): Promise<InputTokens> {
    return this.#askModel("/v1/chat/completions/input_tokens", options, request);
  }

  /** Conversations in the form of OpenAI's Responses API. */
  readonly responses = {
    /** The whole response. */
    create: async (
      request: Omit<ResponsesRequest, "stream">,
      options: ModelCallOptions = {},
    ): Promise<ResponsesAnswer> =>
      this.#askModel("/v1/responses", options, { ...request, stream: false }),
    /** The response, event by event; otherwise as `chatStream`. A response that fails is its last event. */
    stream: (
      request: Omit<ResponsesRequest, "stream">,
      options: ModelCallOptions = {},
    ): AsyncGenerator<ResponsesEvent, void, void> =>
      this.#streamed("/v1/responses", options, request, readResponsesStream),
    /** A response that was kept, or one that is being streamed as far as it is. */
    show: (id: string, options?: CallOptions): Promise<ResponsesAnswer> =>
      this.#json("GET", `/v1/responses/${encodeURIComponent(id)}`, options),
    /** Has the server keep a response no longer. */
    delete: (id: string, options?: CallOptions): Promise<ResponsesDeleted> =>
      this.#json("DELETE", `/v1/responses/${encodeURIComponent(id)}`, options),
    /** A page of a response's own input, the newest first. */
    inputItems: (
      id: string,
      page: {
        readonly limit?: number;
        readonly order?: "asc" | "desc";
        readonly after?: string;
      } = {},
      options?: CallOptions,
    ): Promise<ResponsesItems> => {
      const query = new URLSearchParams(
        Object.entries(page).map(([key, value]) => [key, String(value)]),
      );
      return this.#json(
        "GET",
        `/v1/responses/${encodeURIComponent(id)}/input_items?${query}`,
        options,
      );
    },
    /** Ends a response that is being streamed. */
    cancel: (id: string, options?: CallOptions): Promise<ResponsesAnswer> =>
      this.#json("POST", `/v1/responses/${encodeURIComponent(id)}/cancel`, options),
  };

  /** The whole answer to a conversation. */
  async chat(
    request: Omit<ChatRequest, "stream">,
    options: ModelCallOptions = {},
  ): Promise<ChatResponse> {
    const body = { ...request, stream: false };
    const response = await this.#callModel("/v1/chat/completions", options, body);
    return this.#answer(response, options);
  }

  /**
   * The answer to a conversation, piece by piece. The call is made when the first chunk is asked
   * for. Leaving the loop, or aborting, closes the connection, and the server stops generating.
   */
  chatStream(
    request: Omit<ChatRequest, "stream">,
    options: ModelCallOptions = {},
  ): AsyncGenerator<ChatChunk, void, void> {
    return this.#streamed("/v1/chat/completions", options, request, readChatStream);
  }

  /** How a model goes on with texts as they are, without a conversation around them. */
  readonly completions = {
    /** The whole answer. */
    create: (
      request: Omit<CompletionRequest, "stream">,
      options: ModelCallOptions = {},
    ): Promise<CompletionResponse> =>
      this.#askModel("/v1/completions", options, { ...request, stream: false }),
    /** The answer, piece by piece; otherwise as `chatStream`. */
    stream: (
      request: Omit<CompletionRequest, "stream">,
      options: ModelCallOptions = {},
    ): AsyncGenerator<CompletionChunk, void, void> =>
      this.#streamed("/v1/completions", options, request, readCompletionStream),
  };

  /** That the server answers. Works while it is still getting ready. */
  health(options?: CallOptions): Promise<Health> {
    return this.#json("GET", "/health", options);
  }

  /** Whether models can be served, and if not, how far the server is. */
  async ready(options: CallOptions = {}): Promise<Ready> {
    const response = await this.#send("GET", "/ready", options);
    if (response.status !== 503 && !response.ok) {
      throw await readErrorResponse(response, options.signal);
    }
    const body = await this.#body<Ready>(response, options);
    if (typeof body.ready !== "boolean") throw notOurs(this.baseUrl, response);
    return body;
  }

  /** Name, version, doors and links of the server. */
  root(options?: CallOptions): Promise<Root> {
    return this.#json("GET", "/", options);
  }

  async *#streamed<Item>(
    path: string,
    options: ModelCallOptions,
    request: object,
    read: (response: Response, signal: AbortSignal | undefined) => AsyncGenerator<Item, void, void>,
  ): AsyncGenerator<Item, void, void> {
    const body = { ...request, stream: true };
    const accept = { accept: "text/event-stream" };
    const response = await this.#callModel(path, options, body, accept);
    if (!response.ok) throw await readErrorResponse(response, options.signal);
    if (!(response.headers.get("content-type") ?? "").startsWith("text/event-stream")) {
      await response.body?.cancel();
      throw notOurs(this.baseUrl, response);
    }
    yield* read(response, options.signal);
  }

  async #json<T>(
    method: string,
    path: string,
    options: CallOptions = {},
    body?: unknown,
  ): Promise<T> {
    const response = await this.#send(method, path, options, body);
    return this.#answer(response, options);
  }

  async #answer<T>(response: Response, options: CallOptions): Promise<T> {
    if (!response.ok) throw await readErrorResponse(response, options.signal);
    return this.#body(response, options);
  }

  async #body<T>(response: Response, options: CallOptions): Promise<T> {
    let text: string;
    try {
      text = await response.text();
    } catch (cause) {
      options.signal?.throwIfAborted();
      throw new SomnusClientError("The connection broke off before the answer was complete.", {
        status: response.status,
        type: "connection_lost",
        requestId: response.headers.get("x-request-id"),
        cause,
      });
    }
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value === "object" && value !== null) return value as T;
    } catch {
      // Told below, like any other answer that is not the protocol's.
    }
    throw notOurs(this.baseUrl, response);
  }

  async #askModel<T>(path: string, options: ModelCallOptions, body: unknown): Promise<T> {
    return this.#answer(await this.#callModel(path, options, body), options);
  }

  async #callModel(
    path: string,
    options: ModelCallOptions,
    body: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    const { deadlineMs, nextModel, workflow } = options;
    const response = await this.#send("POST", path, options, body, {
      ...headers,
      ...(deadlineMs === undefined ? {} : { "x-hypnos-deadline-ms": String(deadlineMs) }),
      ...(nextModel === undefined ? {} : { "x-hypnos-next-model": nextModel }),
      ...(workflow === undefined ? {} : { "x-hypnos-workflow": `${workflow.name}/${workflow.id}` }),
      ...(workflow?.end === true ? { "x-hypnos-workflow-end": "true" } : {}),
    });
    const wait = response.headers.get("x-hypnos-estimated-wait-ms");
    options.onHead?.({
      status: response.status,
      requestId: response.headers.get("x-request-id"),
      estimatedWaitMs: wait === null ? null : Number(wait),
    });
    return response;
  }

  async #send(
    method: string,
    path: string,
    options: CallOptions,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    options.signal?.throwIfAborted();
    try {
      return await this.#fetch(this.baseUrl + path, {
        method,
        headers: {
          accept: "application/json",
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
          ...this.#headers,
          ...options.headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...(options.signal ? { signal: options.signal } : {}),
      });
    } catch (cause) {
      options.signal?.throwIfAborted();
      throw new SomnusClientError(`There is no answer from ${this.baseUrl}${reason(cause)}.`, {
        status: null,
        type: "connection_failed",
        cause,
      });
    }
  }
}

function readBaseUrl(given: string): string {
  const url = new URL(given);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new TypeError(`The server's URL must begin with http:// or https://: ${given}`);
  }
  return url.origin + url.pathname.replace(/\/+$/, "").replace(/\/v1$/, "");
}

/** Node hides why a connection failed in the cause, and sometimes in the errors of that one. */
function reason(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  if (typeof cause !== "object" || cause === null) return "";
  const all = "errors" in cause && Array.isArray(cause.errors) ? cause.errors : [cause];
  const codes = all.flatMap((one: unknown) =>
    typeof one === "object" && one !== null && "code" in one ? [String(one.code)] : [],
  );
  return codes.length === 0 ? "" : ` (${[...new Set(codes)].join(", ")})`;
}

function notOurs(baseUrl: string, response?: Response): SomnusClientError {
  return new SomnusClientError(
    `What answers at ${baseUrl} is not a Somnus server, or something between changes its answers.`,
    {
      status: response?.status ?? 200,
      type: "invalid_response",
      requestId: response?.headers.get("x-request-id") ?? null,
    },
  );
}
