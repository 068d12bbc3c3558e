/** One kind of failure: its HTTP status, the `type` clients see, and whether the same request may succeed later. */
interface ErrorKind {
  readonly status: number;
  readonly type: string;
  /** Sent as `code` in the body, for the errors whose code is part of a contract. */
  readonly wireCode?: string;
  readonly retryable: boolean;
  /** Seconds for `Retry-After` when the thrower names none. */
  readonly retryAfterSecs?: number;
}

/** Every error of the product. The key is the stable code that the code base and the logs use. */
export const ERROR_KINDS = {
  invalid_request: { status: 400, type: "invalid_request_error", retryable: false },
  context_length_exceeded: {
    status: 400,
    type: "invalid_request_error",
    wireCode: "context_length_exceeded",
    retryable: false,
  },
  invalid_api_key: {
    status: 401,
    type: "invalid_request_error",
    wireCode: "invalid_api_key",
    retryable: false,
  },
  permission_denied: {
    status: 403,
    type: "permission_denied",
    wireCode: "permission_denied",
    retryable: false,
  },
  model_not_found: { status: 404, type: "model_not_found", retryable: false },
  model_disabled: { status: 404, type: "model_disabled", retryable: false },
  not_found: { status: 404, type: "not_found", retryable: false },
  method_not_allowed: { status: 405, type: "invalid_request_error", retryable: false },
  request_timeout: { status: 408, type: "timeout", retryable: true },
  /** The request's own time to wait for its turn is over. */
  queue_timeout: { status: 408, type: "timeout", wireCode: "queue_timeout", retryable: true },
  conflict: { status: 409, type: "conflict", retryable: false },
  /** An upload is larger than its kind of file may be; the handler found out. */
  body_too_large: { status: 413, type: "payload_too_large", retryable: false },
  /** The body as a whole is larger than the door takes; nothing has looked into it. */
  body_limit_exceeded: { status: 413, type: "payload_too_large", retryable: false },
  unsupported_media_type: { status: 415, type: "invalid_request_error", retryable: false },
  unprocessable: { status: 422, type: "invalid_request_error", retryable: false },
  model_busy: { status: 429, type: "model_busy", retryable: true },
  header_fields_too_large: { status: 431, type: "invalid_request_error", retryable: false },
  cancelled: { status: 499, type: "cancelled", retryable: false },
  engine_failed: { status: 500, type: "server_error", retryable: true },
  internal: { status: 500, type: "server_error", retryable: true },
  /** What a model answered is not of the form that was asked for. */
  invalid_model_output: {
    status: 502,
    type: "server_error",
    wireCode: "invalid_model_output",
    retryable: false,
  },
  staging: { status: 503, type: "model_not_available", retryable: true, retryAfterSecs: 5 },
  shutting_down: { status: 503, type: "model_not_available", retryable: true, retryAfterSecs: 5 },
  /** The model cannot be served as configured: a missing or broken file, no engine for it. */
  model_unavailable: { status: 503, type: "model_not_available", retryable: false },
  /** The model failed to load a moment ago; the next try is later. */
  load_cooldown: { status: 503, type: "model_not_available", retryable: true, retryAfterSecs: 5 },
  /** The request would start later than it may. */
  deadline_unmeetable: { status: 503, type: "deadline_unmeetable", retryable: true },
  /** There is memory for the model only if others lose theirs, and this work may not have them go. */
  memory_in_use: { status: 503, type: "model_not_available", retryable: true, retryAfterSecs: 5 },
  engine_timeout: { status: 504, type: "timeout", retryable: true },
  insufficient_memory: { status: 507, type: "insufficient_vram_or_ram", retryable: true },
  process_memory_cap: { status: 507, type: "process_memory_cap", retryable: true },
  device_out_of_memory: { status: 507, type: "device_out_of_memory", retryable: true },
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERROR_KINDS;

export interface ErrorDetails {
  /** The field, header or query parameter at fault, spelled as a path: `messages[2].content[0].text`. */
  param?: string | null;
  retryAfterSecs?: number;
  cause?: unknown;
}

/** The one error type of the product: a stable code, a sentence for people, and the field at fault. */
export class SomnusError extends Error {
  override readonly name = "SomnusError";
  readonly code: ErrorCode;
  readonly param: string | null | undefined;
  readonly retryAfterSecs: number | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.param = details.param;
    this.retryAfterSecs = details.retryAfterSecs ?? this.kind.retryAfterSecs;
  }

  get kind(): ErrorKind {
    return ERROR_KINDS[this.code];
  }
}

/** The error as a SomnusError; anything unknown becomes `internal`, its cause kept for the log only. */
export function toSomnusError(error: unknown): SomnusError {
  if (error instanceof SomnusError) return error;
  return new SomnusError("internal", "The server failed on this request; see its log.", {
    cause: error,
  });
}
