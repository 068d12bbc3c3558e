import { type Dispatcher, request } from "undici";
import { errorCode } from "../../files/index.js";
import { SourceFailure } from "../failure.js";
import type { Attempt } from "../sources/attempt.js";
import { requireSafe, requireSafeRedirect } from "./address.js";
import { connectReason } from "./connect-reason.js";
import { createDispatcher } from "./dispatcher.js";
import type { DownloadRequest } from "./request.js";

const MAX_REDIRECTS = 5;
/** A link that was valid a moment ago is looked up again after these. */
const LINK_EXPIRED = [401, 403, 404, 410];

/** The connections of one download. */
export interface Connection {
  /**
   * The first answer that is no redirect; its body has an owner for errors, and must be read or destroyed.
   * Throws `unreachable` when nothing answers, `faltered` when it is cut off, `wrong` for a bad redirect.
   */
  ask(headers: Record<string, string>, signal: AbortSignal): Promise<Dispatcher.ResponseData>;
  /** What a failure while reading a body means; anything else comes back as it is. */
  explain(error: unknown): unknown;
  close(): Promise<void>;
}

/** Honours the proxy variables of the attempt's environment, except towards this machine. */
export function createConnection(wanted: DownloadRequest, attempt: Attempt): Connection {
  const { env, reach, limits, patient } = attempt;
  const start = wanted.url;
  const plainHttp = wanted.plainHttp ?? false;
  requireSafe(start, plainHttp);
  const stall = patient ? limits.patientMs : limits.stallMs;
  const dispatcher = createDispatcher(start, env, {
    connectMs: limits.reachMs,
    stallMs: stall,
  });
  /** Hosts whose silence from now on is a broken network, not a wrong place to ask. */
  const answered = new Set<string>();
  /** Where the redirects led last time, so that not every piece goes through them. */
  let target: { url: URL; home: boolean } | null = null;

  function cut(error: unknown): SourceFailure {
    const stalled = ["UND_ERR_BODY_TIMEOUT", "UND_ERR_HEADERS_TIMEOUT"].includes(errorCode(error));
    const what = stalled ? `it sent nothing for ${stall / 1_000} s` : "the connection broke";
    return new SourceFailure("faltered", what, { cause: error });
  }

  async function askOnce(
    url: URL,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    const known = answered.has(url.host) ? null : reach.passedOver(url.host);
    if (known) throw new SourceFailure("unreachable", known.reason);
    try {
      const response = await request(url, {
        dispatcher,
        signal,
        headers: { ...headers, "accept-encoding": "identity", "user-agent": "somnus" },
      });
      // A body that is given up must not raise an error that nobody waits for.
      response.body.on("error", () => {});
      answered.add(url.host);
      return response;
    } catch (error) {
      if (signal.aborted) throw error;
      if (
        ["ECONNRESET", "EPIPE", "UND_ERR_SOCKET", "UND_ERR_HEADERS_TIMEOUT"].includes(
          errorCode(error),
        )
      ) {
        throw cut(error);
      }
      const reason = `${url.host} cannot be reached: ${connectReason(error)}`;
      if (answered.has(url.host)) throw new SourceFailure("faltered", reason, { cause: error });
      reach.unreachable(url.host, reason, false);
      throw new SourceFailure("unreachable", reason, { cause: error });
    }
  }

  async function follow(
    from: { url: URL; home: boolean },
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    let { url, home } = from;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const given = home ? (wanted.headers ?? {}) : {};
      const response = await askOnce(url, { ...given, ...headers }, signal);
      const { statusCode } = response;
      if (![301, 302, 303, 307, 308].includes(statusCode)) {
        if (statusCode < 300) target = { url, home };
        return response;
      }
      const { location } = response.headers;
      response.body.destroy();
      if (typeof location !== "string" || !URL.canParse(location, url.href)) {
        throw new SourceFailure("wrong", `it answered ${statusCode} without saying where to`);
      }
      const next = new URL(location, url);
      requireSafeRedirect(url, next, plainHttp);
      // Never true again once another host was in between: it chose where to go from there.
      home = home && next.origin === start.origin;
      url = next;
    }
    throw new SourceFailure("wrong", `it redirects more than ${MAX_REDIRECTS} times`);
  }

  return {
    async ask(headers, signal) {
      const known = target;
      if (known) {
        const response = await follow(known, headers, signal);
        if (known.url.href === start.href || !LINK_EXPIRED.includes(response.statusCode)) {
          return response;
        }
        response.body.destroy();
        target = null;
      }
      return follow({ url: start, home: true }, headers, signal);
    },
    explain(error) {
      return isNetworkError(error) ? cut(error) : error;
    },
    close: () => dispatcher.destroy(),
  };
}

function isNetworkError(error: unknown): boolean {
  return /^(UND_ERR_|ECONN|EPIPE|ETIMEDOUT|ENET|EHOST|EPROTO|ERR_SSL|ERR_TLS|HPE_)/.test(
    errorCode(error),
  );
}
