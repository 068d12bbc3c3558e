import { Agent, type Dispatcher, request } from "undici";
import { SomnusError } from "../errors.js";
import { guardedConnector, PrivateHost, type Resolve, systemResolve } from "./connect.js";
import { isPublicAddress } from "./public-address.js";

/** Redirects that are followed. */
const MOST_REDIRECTS = 5;
/** Time to connect, ms. */
const CONNECT_MS = 5_000;
/** Time for the whole of it, ms. */
const TOTAL_MS = 30_000;
/** Nobody reads more of an address in a message. */
const SHOWN_HOST = 120;

/** What addresses may be fetched: the operator's rules. */
export interface RemoteRules {
  /** `limits.allow_remote_image_urls` */
  allowed: boolean;
  /** `limits.allow_private_urls`: also hosts that are not on the public internet. */
  allowPrivate: boolean;
}

export interface RemoteFetchRequest {
  url: string;
  /** Where the address stands in the request, for errors. */
  param: string;
  /** Media types wanted, as an `Accept` header spells them. */
  accept: string;
  maxBytes: number;
  signal: AbortSignal;
}

/** What was fetched; `contentType` as the server sent it, without parameters. */
export interface RemoteFile {
  bytes: Buffer;
  contentType: string | null;
}

/** Gets a file that a client's request names by its address. */
export type RemoteFetch = (request: RemoteFetchRequest) => Promise<RemoteFile>;

/**
 * Makes what fetches the files that requests name. Each fetch has a connection of its own and leaves none
 * behind; nothing of this server (keys, cookies, proxies) goes with it.
 * The promise rejects with a SomnusError `invalid_request` that names the field and says what was wrong with the
 * address, or with the signal's reason.
 */
export function createRemoteFetch(
  rules: RemoteRules,
  {
    resolve = systemResolve,
    totalMs = TOTAL_MS,
    isPublic = isPublicAddress,
  }: { resolve?: Resolve; totalMs?: number; isPublic?: (address: string) => boolean } = {},
): RemoteFetch {
  return async (wanted) => {
    const { param } = wanted;
    if (!rules.allowed) {
      throw new SomnusError(
        "invalid_request",
        `${param}: this server fetches no addresses; send the file itself as a data: URL.`,
        { param },
      );
    }
    const deadline = AbortSignal.timeout(totalMs);
    const signal = AbortSignal.any([wanted.signal, deadline]);
    const agent = new Agent({
      connect: guardedConnector(resolve, CONNECT_MS, rules.allowPrivate ? () => true : isPublic),
      headersTimeout: totalMs,
      bodyTimeout: totalMs,
    });
    try {
      return await follow(wanted, agent, signal);
    } catch (error) {
      if (wanted.signal.aborted) throw wanted.signal.reason;
      if (deadline.aborted) throw refused(wanted, `was not there within ${totalMs / 1_000} s`);
      throw error instanceof SomnusError ? error : refused(wanted, reasonOf(error), error);
    } finally {
      await agent.destroy();
    }
  };
}

async function follow(
  wanted: RemoteFetchRequest,
  dispatcher: Dispatcher,
  signal: AbortSignal,
): Promise<RemoteFile> {
  let url = parse(wanted, wanted.url);
  for (let redirects = 0; ; redirects++) {
    const { statusCode, headers, body } = await request(url, {
      dispatcher,
      signal,
      headers: { accept: wanted.accept, "accept-encoding": "identity", "user-agent": "somnus" },
    });
    const location = one(headers.location);
    if (statusCode >= 300 && statusCode < 400 && location !== undefined) {
      await body.dump();
      if (redirects === MOST_REDIRECTS) throw refused(wanted, "redirects too often");
      url = parse(wanted, location, url);
      continue;
    }
    if (statusCode !== 200) throw refused(wanted, `answered with status ${statusCode}`);
    const encoding = one(headers["content-encoding"]) ?? "identity";
    if (encoding !== "identity") throw refused(wanted, `came compressed (${encoding})`);
    const tooLarge = `is larger than ${wanted.maxBytes} bytes`;
    if (Number(one(headers["content-length"])) > wanted.maxBytes) throw refused(wanted, tooLarge);
    const pieces: Uint8Array[] = [];
    let length = 0;
    for await (const piece of body as AsyncIterable<Uint8Array>) {
      length += piece.length;
      if (length > wanted.maxBytes) throw refused(wanted, tooLarge);
      pieces.push(piece);
    }
    const type = one(headers["content-type"])?.split(";")[0]?.trim().toLowerCase();
    return { bytes: Buffer.concat(pieces, length), contentType: type || null };
  }
}

function parse(wanted: RemoteFetchRequest, text: string, base?: URL): URL {
  const url = URL.canParse(text, base?.href) ? new URL(text, base) : null;
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw new SomnusError("invalid_request", `${wanted.param} must be an http(s) or data: URL.`, {
      param: wanted.param,
    });
  }
  if (url.username !== "" || url.password !== "") {
    throw new SomnusError(
      "invalid_request",
      `${wanted.param} must not carry a user name or a password.`,
      { param: wanted.param },
    );
  }
  return url;
}

/** Says the host and nothing else of the address: its path and query may be secrets. */
function refused(wanted: RemoteFetchRequest, why: string, cause?: unknown): SomnusError {
  const host = URL.canParse(wanted.url) ? new URL(wanted.url).host.slice(0, SHOWN_HOST) : "address";
  return new SomnusError("invalid_request", `${wanted.param}: the file at ${host} ${why}.`, {
    param: wanted.param,
    cause,
  });
}

function reasonOf(error: unknown): string {
  if (error instanceof PrivateHost) {
    return `cannot be fetched: ${error.host} is not a public host (limits.allow_private_urls)`;
  }
  const code = (error as { code?: unknown } | null)?.code;
  switch (code) {
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return "cannot be fetched: its host is not known";
    case "ECONNREFUSED":
    case "EHOSTUNREACH":
    case "ENETUNREACH":
    case "UND_ERR_CONNECT_TIMEOUT":
      return "cannot be fetched: its host does not answer";
    default:
      return typeof code === "string" ? `cannot be fetched (${code})` : "cannot be fetched";
  }
}

function one(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
