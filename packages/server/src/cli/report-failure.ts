import type { SomnusClientError } from "@somnus/client";
import { CliFailure, EXIT } from "./failure.js";
import { printable } from "./layout.js";
import type { Output } from "./output.js";

/**
 * Tells an error on the output for errors: one line what, one line what to do; the stack only when
 * asked for. Returns the exit status.
 */
export function reportFailure(error: unknown, err: Output, verbose: boolean): number {
  const { message, advice, exitCode } = describe(error);
  err.line(`${err.paint.red("somnus:")} ${printable(message)}`);
  if (advice !== null) err.line(`  ${printable(advice)}`);
  if (verbose) {
    for (let cause = error; cause instanceof Error; cause = cause.cause) {
      err.line(err.paint.dim(cause.stack ?? cause.message));
    }
  }
  return exitCode;
}

/** An error as programs read it, in a line of JSON. */
export function failureEvent(error: unknown): string {
  const { message, advice, exitCode } = describe(error);
  const code = codeOf(error, exitCode);
  return JSON.stringify({ event: "error", code, message, advice });
}

function codeOf(error: unknown, exitCode: number): string {
  if (exitCode === EXIT.usage) return "usage";
  if (exitCode > 128) return "interrupted";
  const isCoded = error instanceof Error && "code" in error && typeof error.code === "string";
  return isCoded ? (error.code as string) : "failed";
}

/** An error as a CliFailure, told apart by name: the classes would have to be loaded to compare. */
export function describe(error: unknown): CliFailure {
  if (error instanceof CliFailure) return error;
  if (!(error instanceof Error)) return new CliFailure(String(error));
  if (error.name === "SomnusClientError") return describeClientError(error as SomnusClientError);
  if (error.name === "ConfigError") {
    return new CliFailure(error.message, {
      advice: "Correct it and try again; `somnus config check` checks it without starting.",
      cause: error,
    });
  }
  if (error.name === "SomnusError" || error.name === "ListenError") {
    return new CliFailure(error.message, { cause: error });
  }
  const code = "code" in error && typeof error.code === "string" ? error.code : null;
  if (code !== null && /^E[A-Z]+$/.test(code)) return new CliFailure(error.message);
  return new CliFailure(`Something went wrong that should not: ${error.message}`, {
    advice: "Run it again with --verbose to see where.",
    exitCode: EXIT.failure,
  });
}

function describeClientError(error: SomnusClientError): CliFailure {
  const advice = (() => {
    if (error.status === 401) return "Give the key with --api-key or SOMNUS_API_KEY.";
    if (error.type === "invalid_response") return "Check the address (--url, SOMNUS_URL).";
    if (error.code === "context_length_exceeded") return "Shorten the text, or begin anew.";
    if (error.retryAfterSecs !== null) return `Try again in ${error.retryAfterSecs} s.`;
    if (error.type === "server_error" && error.requestId !== null) {
      return `The server's log has more under ${error.requestId}.`;
    }
    return null;
  })();
  return new CliFailure(error.message, { advice, cause: error });
}
