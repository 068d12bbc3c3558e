/** What is known about a failed call. */
export interface SomnusClientErrorDetails {
  /**
   * HTTP status of the response: 200 when the failure came within a stream, null when there was no
   * response at all.
   */
  readonly status: number | null;
  /**
   * What went wrong, for programs: the server's `error.type`, or one of this client's own:
   * `connection_failed` (no response), `connection_lost` (it broke off in the middle of one),
   * `invalid_response` (whatever answered does not speak this protocol).
   */
  readonly type: string;
  /** The server's `error.code`, where it sent one. */
  readonly code?: string | null;
  /** The field of the request that is at fault, where the server named one. */
  readonly param?: string | null;
  /** `x-request-id` of the response: to be quoted when the failure is reported. */
  readonly requestId?: string | null;
  /** Seconds after which the server suggests to try again. */
  readonly retryAfterSecs?: number | null;
  readonly cause?: unknown;
}

/** The one error of this client. An aborted call throws its signal's reason instead. */
export class SomnusClientError extends Error {
  override readonly name = "SomnusClientError";
  readonly status: number | null;
  readonly type: string;
  readonly code: string | null;
  readonly param: string | null;
  readonly requestId: string | null;
  readonly retryAfterSecs: number | null;

  constructor(message: string, details: SomnusClientErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.status = details.status;
    this.type = details.type;
    this.code = details.code ?? null;
    this.param = details.param ?? null;
    this.requestId = details.requestId ?? null;
    this.retryAfterSecs = details.retryAfterSecs ?? null;
  }
}
