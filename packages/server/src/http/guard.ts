import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { hostname } from "node:os";
import { SomnusError } from "./errors.js";
import { hostName, isLoopback, type Origins } from "./origin.js";

/** Header values whose verdict is remembered; beyond that the memory starts anew. */
const REMEMBERED_HOSTS = 256;

const READING_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);

/** Keeps web pages of others away from the server: DNS rebinding and cross-site requests. */
export interface Guard {
  /**
   * @throws SomnusError `permission_denied` for a foreign `Host`, or for a writing request of a foreign origin
   * @throws SomnusError `invalid_request` for a missing or malformed `Host`
   */
  check(request: IncomingMessage): void;
}

/**
 * Answers only to loopback names, IP addresses, this machine's name and the configured names, and
 * lets only pages of loopback, listed or the same origin write.
 * @param allowedHosts host names; `*.example.org` covers the names below it, `*` every name
 */
export function createGuard(allowedHosts: readonly string[], origins: Origins): Guard {
  const machine = hostname().toLowerCase();
  const names = new Set([
    machine,
    `${machine}.local`,
    ...allowedHosts.map((name) => name.toLowerCase()),
  ]);
  const suffixes = [...names].filter((name) => name.startsWith("*.")).map((name) => name.slice(1));
  const verdicts = new Map<string, boolean>();

  function knows(host: string): boolean {
    if (names.has("*") || isLoopback(host) || isIP(host) !== 0 || names.has(host)) return true;
    return suffixes.some((suffix) => host.endsWith(suffix));
  }

  function checkHost(header: string): void {
    let known = verdicts.get(header);
    const host = known === true ? "" : hostName(header);
    if (host === null) throw new SomnusError("invalid_request", "The Host header is malformed.");
    if (known === undefined) {
      known = knows(host);
      if (verdicts.size >= REMEMBERED_HOSTS) verdicts.clear();
      verdicts.set(header, known);
    }
    if (known) return;
    throw new SomnusError(
      "permission_denied",
      `This server does not answer to the name "${host.slice(0, 128)}". If the name is yours, add it to server.allowed_hosts.`,
    );
  }

  return {
    check(request) {
      const { host, origin } = request.headers;
      if (host !== undefined) checkHost(host);
      else if (request.httpVersion !== "1.0") {
        throw new SomnusError("invalid_request", "The request has no Host header.");
      }
      if (origin === undefined || READING_METHODS.has(request.method ?? "")) return;
      if (origins.allows(origin) || isSameOrigin(origin, host)) return;
      throw new SomnusError(
        "permission_denied",
        `Pages of the origin "${origin.slice(0, 128)}" may not use this server. If they are yours, add the origin to server.allowed_origins.`,
      );
    },
  };
}

/** By host and port only: a proxy in front may speak https where this server speaks http. */
function isSameOrigin(origin: string, host: string | undefined): boolean {
  return (
    host !== undefined &&
    /^https?:\/\//i.test(origin) &&
    origin.replace(/^https?:\/\//i, "").toLowerCase() === host.toLowerCase()
  );
}
