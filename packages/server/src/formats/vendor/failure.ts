/**
 * What a vendor's failure is, whatever its words: `rate_limited`, `auth`, `payment` (no credit left),
 * `model_missing`, `server_error` (theirs: overloaded, timed out, broken), `rejected` (the request is at fault),
 * `unreadable` (an answer that is none, or was cut), `error_event` (an error in the middle of a stream).
 */
export type FailureKind =
  | "rate_limited"
  | "auth"
  | "payment"
  | "model_missing"
  | "server_error"
  | "rejected"
  | "unreadable"
  | "error_event";

/** A vendor's failure in one form for all of them. */
export interface VendorFailure {
  kind: FailureKind;
  /** HTTP status; null where there was none, as in a stream. */
  status: number | null;
  /** The vendor's words, or ours where it has none; one line, never HTML. */
  message: string;
  /** As the vendor has them; null where it does not say. */
  type: string | null;
  code: string | null;
  param: string | null;
  /** Whether the same request may succeed later, or elsewhere. */
  retryable: boolean;
  /** How long the vendor wants to be left alone, ms; null where it does not say. */
  retryAfterMs: number | null;
}

/** A failure on the way of a vendor's answer; who asked the vendor makes it an error of the product. */
export class VendorError extends Error {
  override readonly name = "VendorError";

  constructor(readonly failure: VendorFailure) {
    super(failure.message);
  }
}

/** Kinds after which the same request is of no use to anybody, or to this vendor for now. */
const FINAL: ReadonlySet<FailureKind> = new Set(["auth", "payment", "model_missing", "rejected"]);

/** Whether a failure of the kind may pass by itself. */
export function isRetryable(kind: FailureKind): boolean {
  return !FINAL.has(kind);
}

/** An answer that ended too early. @param hasBegun whether any of it came */
export function cutOff(hasBegun: boolean): VendorError {
  return unreadable(`Its answer ended before it ${hasBegun ? "was whole" : "had begun"}.`);
}

/** An answer that cannot be read, or that ended before it was whole. */
export function unreadable(message: string): VendorError {
  return new VendorError({
    kind: "unreadable",
    status: null,
    message,
    type: null,
    code: null,
    param: null,
    retryable: true,
    retryAfterMs: null,
  });
}
