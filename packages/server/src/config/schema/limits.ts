import Type from "typebox";
import { DEFAULTS } from "../defaults.js";
import { Bytes, Choice, Count, Flag, Seconds, Table } from "./settings.js";

const D = DEFAULTS.limits;

/** `[limits]`: what one request may ask for, and how long it may take. */
export const LimitSettings = Table(
  {
    max_body_bytes: Bytes({
      default: D.max_body_bytes,
      description: "The largest request body, in bytes.",
    }),
    max_audio_bytes: Bytes({
      default: D.max_audio_bytes,
      description: "The largest audio clip, in bytes.",
    }),
    max_image_bytes: Bytes({
      default: D.max_image_bytes,
      description: "The largest image, in bytes.",
    }),
    max_document_bytes: Bytes({
      default: D.max_document_bytes,
      effect: "later",
      description: "The largest document, in bytes.",
    }),
    max_prompt_chars: Count({
      minimum: 1,
      default: D.max_prompt_chars,
      description: "The longest text of a request, in characters, all messages together.",
    }),
    max_tokens_cap: Count({
      minimum: 1,
      default: D.max_tokens_cap,
      description: "The most tokens of an answer; a request that asks for more gets this many.",
    }),
    default_max_tokens: Count({
      minimum: 1,
      default: D.default_max_tokens,
      description: "The most tokens of an answer when the request names no number.",
    }),
    max_images_per_request: Count({
      minimum: 1,
      default: D.max_images_per_request,
      effect: "later",
      description: "The most images one request may ask for.",
    }),
    request_timeout_secs: Seconds({
      exclusiveMinimum: 0,
      default: D.request_timeout_secs,
      description:
        "Seconds until the head of an answer must have been sent; a stream may run longer.",
    }),
    max_queue_per_model: Count({
      default: D.max_queue_per_model,
      description:
        "Requests that may run or wait for one model, at least as many as it has slots; more are refused.",
    }),
    max_running: Type.Optional(
      Count({
        minimum: 1,
        description:
          "Requests that may run at the same time, all models together; models take turns. Without it only slots limit them.",
      }),
    ),
    max_queue: Type.Optional(
      Count({
        minimum: 1,
        description:
          "Requests that may wait at the same time, all models together; one model fills two thirds of it at most. More are refused.",
      }),
    ),
    queue_timeout_secs: Type.Optional(
      Seconds({
        exclusiveMinimum: 0,
        description:
          "Seconds a request may wait for its turn, the loading of its model left out. Without it there is no limit.",
      }),
    ),
    allow_remote_image_urls: Flag({
      default: D.allow_remote_image_urls,
      description: "Whether a request may name media by an http(s) URL.",
    }),
    allow_private_urls: Flag({
      default: D.allow_private_urls,
      description: "Whether such a URL may lead to a private or loopback address.",
    }),
    overload: Choice(["queue", "shed"], {
      default: D.overload,
      description: "What happens to a request that cannot start soon: it waits, or it is refused.",
    }),
    engine_timeout_secs: Seconds({
      exclusiveMinimum: 0,
      default: D.engine_timeout_secs,
      description: "Seconds without any output of the engine after which a request is ended.",
    }),
    load_timeout_secs: Seconds({
      exclusiveMinimum: 0,
      default: D.load_timeout_secs,
      description: "Seconds a model may take to load.",
    }),
  },
  { description: "What one request may ask for, and how long things may take." },
);
