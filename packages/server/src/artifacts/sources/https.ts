import { BlockList } from "node:net";
import { Agent, type Dispatcher, EnvHttpProxyAgent, request } from "undici";
import type { Source } from "../artifact.js";
import { errorCode, errorText, SourceFailure } from "../failure.js";
import { requireSpace } from "../free-space.js";
import type { Attempt } from "./attempt.js";

const MAX_REDIRECTS = 5;

/** Downloads over https; plain http is accepted from this machine only. Honours the proxy variables. */
export async function bringHttps(
  source: Extract<Source, { type: "https" }>,
  attempt: Attempt,
): Promise<void> {
  const url = parseUrl(source.url);
  await requireSpace([{ dir: attempt.dir, bytes: attempt.spec.size }]);
  const dispatcher = createDispatcher(url, attempt);
  try {
    await download(url, dispatcher, attempt);
  } finally {
    await dispatcher.destroy();
  }
}

/** The address without what may be secret in it. */
export function publicAddress(address: string): string {
  if (!URL.canParse(address)) return "(not an address)";
  const { origin, pathname } = new URL(address);
  return `${origin}${pathname}`;
}

async function download(start: URL, dispatcher: Dispatcher, attempt: Attempt): Promise<void> {
  const { spec, transfer, signal } = attempt;
  const response = await follow(start, dispatcher, attempt);
  const { body } = response;
  // A body that is given up must not raise an error that nobody waits for.
  body.on("error", () => {});
  try {
    checkHead(response, spec.size);
    const part = await attempt.openPart();
    try {
      for await (const chunk of body as AsyncIterable<Buffer>) {
        await part.write(chunk);
        transfer.reached(part.received);
      }
    } catch (error) {
      if (signal.aborted || error instanceof SourceFailure) throw error;
      throw isNetworkError(error) ? cut(error, part.received, attempt) : error;
    }
    await part.seal();
  } finally {
    body.destroy();
  }
}

/** The first answer that is no redirect. */
async function follow(
  start: URL,
  dispatcher: Dispatcher,
  attempt: Attempt,
): Promise<Dispatcher.ResponseData> {
  let url = start;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    if (url.protocol !== "https:" && !(isLoopback(url) && isLoopback(start))) {
      throw new SourceFailure("wrong", `it redirects to ${url.origin}, which is not https`);
    }
    const response = await ask(url, dispatcher, attempt);
    const { location } = response.headers;
    if (response.statusCode < 300 || response.statusCode >= 400 || response.statusCode === 304) {
      return response;
    }
    response.body.on("error", () => {}).destroy();
    if (typeof location !== "string" || !URL.canParse(location, url.href)) {
      throw new SourceFailure(
        "wrong",
        `it answered ${response.statusCode} without saying where to`,
      );
    }
    url = new URL(location, url);
  }
  throw new SourceFailure("wrong", `it redirects more than ${MAX_REDIRECTS} times`);
}

async function ask(
  url: URL,
  dispatcher: Dispatcher,
  attempt: Attempt,
): Promise<Dispatcher.ResponseData> {
  const { reach, signal } = attempt;
  const known = reach.passedOver(url.host);
  if (known) throw new SourceFailure("unreachable", known.reason);
  try {
    return await request(url, {
      dispatcher,
      signal,
      headers: { "accept-encoding": "identity", "user-agent": "somnus" },
    });
  } catch (error) {
    if (signal.aborted) throw error;
    if (["ECONNRESET", "UND_ERR_SOCKET", "UND_ERR_HEADERS_TIMEOUT"].includes(errorCode(error))) {
      throw cut(error, 0, attempt);
    }
    const reason = `${url.host} cannot be reached: ${connectReason(error)}`;
    reach.unreachable(url.host, reason, false);
    throw new SourceFailure("unreachable", reason, { cause: error });
  }
}

function checkHead(response: Dispatcher.ResponseData, size: number): void {
  const { statusCode, headers } = response;
  if (statusCode !== 200) {
    const again = statusCode === 408 || statusCode === 429 || statusCode >= 500;
    throw new SourceFailure(again ? "faltered" : "wrong", `it answered with status ${statusCode}`);
  }
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity") {
    throw new SourceFailure("wrong", `it sent the file encoded (${encoding})`);
  }
  const announced = headers["content-length"];
  if (announced === undefined || Number(announced) === size) return;
  const page = /^text\/html\b/i.test(String(headers["content-type"] ?? ""));
  throw new SourceFailure(
    "wrong",
    page
      ? "it answered with a web page instead of the file"
      : `it offers ${announced} bytes instead of ${size}`,
  );
}

function cut(error: unknown, received: number, attempt: Attempt): SourceFailure {
  const limit = attempt.patient ? attempt.limits.patientMs : attempt.limits.stallMs;
  const stalled = ["UND_ERR_BODY_TIMEOUT", "UND_ERR_HEADERS_TIMEOUT"].includes(errorCode(error));
  const what = stalled ? `it sent nothing for ${limit / 1_000} s` : "the connection broke";
  return new SourceFailure("faltered", `${what} after ${received} of ${attempt.spec.size} bytes`, {
    cause: error,
  });
}

function isNetworkError(error: unknown): boolean {
  return /^(UND_ERR_|ECONN|EPIPE|ETIMEDOUT|ENET|EHOST|ERR_SSL|HPE_)/.test(errorCode(error));
}

function connectReason(error: unknown): string {
  const code = errorCode(error);
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return "its name cannot be resolved";
  if (code === "ECONNREFUSED") return "the connection was refused";
  if (code === "UND_ERR_CONNECT_TIMEOUT" || code === "ETIMEDOUT") return "it does not answer";
  return errorText(error) || code;
}

function createDispatcher(url: URL, attempt: Attempt): Dispatcher {
  const { env, limits, patient } = attempt;
  const stall = patient ? limits.patientMs : limits.stallMs;
  const options = {
    connect: { timeout: limits.reachMs },
    headersTimeout: stall,
    bodyTimeout: stall,
  };
  if (isLoopback(url)) return new Agent(options);
  return new EnvHttpProxyAgent({
    ...options,
    proxyTls: { timeout: limits.reachMs },
    httpProxy: env.http_proxy ?? env.HTTP_PROXY ?? "",
    httpsProxy: env.https_proxy ?? env.HTTPS_PROXY ?? "",
    noProxy: env.no_proxy ?? env.NO_PROXY ?? "",
  });
}

function parseUrl(address: string): URL {
  if (!URL.canParse(address)) throw new SourceFailure("wrong", "it is not an address");
  const url = new URL(address);
  if (url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url))) return url;
  throw new SourceFailure("wrong", "only https addresses are fetched from");
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");

function isLoopback({ hostname }: URL): boolean {
  if (hostname === "localhost" || hostname === "[::1]") return true;
  return /^[\d.]+$/.test(hostname) && LOOPBACK.check(hostname, "ipv4");
}
