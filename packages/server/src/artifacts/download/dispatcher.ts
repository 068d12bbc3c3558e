import { Agent, type Dispatcher, EnvHttpProxyAgent } from "undici";
import { isLoopback } from "./address.js";

/** How long a host may keep silent, and how much it may say. Times in milliseconds. */
export interface Patience {
  /** Until it must have accepted the connection. */
  connectMs: number;
  /** Between two pieces of an answer, and until the first one. */
  stallMs: number;
  /** Bytes of the longest answer; any length when absent. */
  largestAnswer?: number;
}

/**
 * The connections to a host: by the proxy variables of the environment (lower case first, as curl reads them), except
 * towards this machine. The caller destroys it.
 */
export function createDispatcher(
  host: URL,
  env: NodeJS.ProcessEnv,
  { connectMs, stallMs, largestAnswer }: Patience,
): Dispatcher {
  const options = {
    connect: { timeout: connectMs },
    headersTimeout: stallMs,
    bodyTimeout: stallMs,
    ...(largestAnswer === undefined ? {} : { maxResponseSize: largestAnswer }),
  };
  if (isLoopback(host)) return new Agent(options);
  return new EnvHttpProxyAgent({
    ...options,
    proxyTls: { timeout: connectMs },
    httpProxy: env.http_proxy ?? env.HTTP_PROXY ?? "",
    httpsProxy: env.https_proxy ?? env.HTTPS_PROXY ?? "",
    noProxy: env.no_proxy ?? env.NO_PROXY ?? "",
  });
}
