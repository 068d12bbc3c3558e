import { randomBytes } from "node:crypto";
import { ChatRequest, ChatResponse } from "@somnus/contract";
import type { GenerationRequest } from "../formats/index.js";
import {
  type AnswerHead,
  type ChatCall,
  readChatRequest,
  writeChatErrorChunk,
  writeChatResponse,
  writeChatStream,
} from "../formats/openai-chat/index.js";
import {
  type Call,
  defineRoute,
  jsonReply,
  type Route,
  SomnusError,
  sseReply,
} from "../http/index.js";
import type { PoolModel } from "../models/index.js";
import { type Deadline, type Lease, withLease } from "../scheduling/index.js";
import { admit, deadlineOf } from "./admission.js";
import type { InferenceParts } from "./parts.js";
import { TelemetryRecorder } from "./telemetry.js";

/** `POST /v1/chat/completions` */
export function chatRoute(parts: InferenceParts): Route {
  return defineRoute({
    method: "POST",
    path: "/v1/chat/completions",
    summary: "Answer a conversation, streamed or whole.",
    tags: ["chat"],
    body: ChatRequest,
    replies: {
      200: {
        description:
          "The answer; with `stream: true` as server-sent events, each a chunk, ended by `[DONE]`.",
        content: { "application/json": ChatResponse, "text/event-stream": null },
      },
    },
    scope: "key",
    openWhileStaging: false,
    handler: async (call) => {
      const chat = readChatRequest(call.body, parts.config.limits);
      const deadline = deadlineOf(call, parts.config);
      const model = await parts.pool.resolve(chat.model);
      requireCapabilities(model, chat);
      const run = new ChatRun(parts, call, chat, model, deadline);
      if (!chat.stream) return jsonReply(await run.whole());
      return sseReply(run.chunks(), { onError: (error) => run.errorChunk(error) });
    },
  });
}

/** One chat from admission to its last event. */
class ChatRun {
  readonly #head: AnswerHead;
  readonly #request: GenerationRequest;
  /** The choice that is being answered. */
  #choice = 0;

  constructor(
    private readonly parts: InferenceParts,
    private readonly call: Call,
    private readonly chat: ChatCall,
    private readonly model: PoolModel,
    private readonly deadline: Deadline | undefined,
  ) {
    this.#head = {
      id: `chatcmpl-${randomBytes(16).toString("hex")}`,
      created: Math.floor(Date.now() / 1_000),
      model: model.id,
    };
    this.#request = {
      ...chat.generation,
      sampling: { ...model.sampling, ...chat.generation.sampling },
    };
  }

  async whole(): Promise<ChatResponse> {
    return withLease(
      () => this.#admit(),
      this.call.signal,
      (lease) => writeChatResponse(...this.#generation(lease)),
    );
  }

  async *chunks() {
    const lease = await this.#admit();
    try {
      const [events, options] = this.#generation(lease);
      yield* writeChatStream(events, { ...options, includeUsage: this.chat.includeUsage });
    } finally {
      lease.release();
    }
  }

  errorChunk(error: SomnusError) {
    return writeChatErrorChunk(this.#head, error, {
      choice: this.#choice,
      includeUsage: this.chat.includeUsage,
    });
  }

  #admit(): Promise<Lease> {
    return admit(this.parts, this.call, this.model, this.#request, {
      keepAliveMs: this.chat.keepAliveMs,
      deadline: this.deadline,
    });
  }

  #generation(lease: Lease) {
    const recorder = new TelemetryRecorder(lease, this.model);
    const events = lease.generate(this.#request, this.call.signal, (event) => {
      if ("choice" in event) this.#choice = event.choice;
      recorder.observe(event);
    });
    const options = {
      head: this.#head,
      choices: this.#request.choices,
      showThoughts: this.chat.showThoughts,
      topLogprobs: this.#request.topLogprobs,
      telemetry: () => recorder.telemetry(),
    };
    return [events, options] as const;
  }
}

const NEEDS = {
  vision: "does not see images",
  audio: "does not hear audio",
  tools: "cannot call tools in this version",
} as const;

function requireCapabilities(model: PoolModel, chat: ChatCall): void {
  if (!model.modalities.includes("text_generation")) {
    throw new SomnusError(
      "invalid_request",
      `${model.id} does not chat; it serves ${model.modality}.`,
      {
        param: "model",
      },
    );
  }
  const want = chat.wants[0];
  if (want) {
    throw new SomnusError(
      "invalid_request",
      `${model.id} ${NEEDS[want.capability]} (${want.param}).`,
      {
        param: want.param,
      },
    );
  }
}
