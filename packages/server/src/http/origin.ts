import { isIP } from "node:net";

/** The host of a `Host` header or of an origin, lower case, without port and trailing dot; null when it is no host. */
export function hostName(authority: string): string | null {
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{0,5})?$/i.exec(authority);
  if (!match) return null;
  const name = (match[1] ?? match[2] ?? "").toLowerCase().replace(/\.$/, "");
  if (match[1] !== undefined && isIP(name) !== 6) return null;
  return name === "" ? null : name;
}

/** Whether a host name or address, as {@link hostName} gives it, is this machine's loopback. */
export function isLoopback(host: string): boolean {
  if (host === "localhost" || host.endsWith(".localhost") || host === "::1") return true;
  return isIP(host) === 4 && host.startsWith("127.");
}

/** The web origins whose pages may call a door. */
export interface Origins {
  /** Whether a page of this origin may call: a loopback one, or one of the configured ones. */
  allows(origin: string): boolean;
}

/**
 * @param allowed exact origins, or ones with `*` as the port; loopback ones need no mention
 */
export function createOrigins(allowed: readonly string[]): Origins {
  const exact = new Set<string>();
  const anyPort = new Set<string>();
  for (const entry of allowed) {
    const lower = entry.toLowerCase();
    if (lower.endsWith(":*")) anyPort.add(lower.slice(0, -2));
    else exact.add(withoutDefaultPort(lower));
  }
  return {
    allows(origin) {
      const lower = origin.toLowerCase();
      const match = /^([a-z][a-z0-9+.-]*):\/\/([^/]+)$/.exec(lower);
      if (!match) return false;
      const [, scheme, authority] = match as unknown as [string, string, string];
      const host = hostName(authority);
      if (host === null) return false;
      if ((scheme === "http" || scheme === "https") && isLoopback(host)) return true;
      return exact.has(withoutDefaultPort(lower)) || anyPort.has(lower.replace(/:\d+$/, ""));
    },
  };
}

function withoutDefaultPort(origin: string): string {
  return origin.replace(/^(http:\/\/.*):80$/, "$1").replace(/^(https:\/\/.*):443$/, "$1");
}
