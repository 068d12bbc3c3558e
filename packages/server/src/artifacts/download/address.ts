import { BlockList } from "node:net";
import { SourceFailure } from "../failure.js";

/** The address without what may be secret in it. */
export function publicAddress(address: string): string {
  if (!URL.canParse(address)) return "(not an address)";
  const { origin, pathname } = new URL(address);
  return `${origin}${pathname}`;
}

/** Throws a `wrong` failure for an address that is neither https nor plain http where that is accepted. */
export function requireSafe(url: URL, plainHttp: boolean): void {
  const plain = url.protocol === "http:" && (plainHttp || isLoopback(url));
  if (url.protocol === "https:" || plain) return;
  throw new SourceFailure("wrong", "only https addresses are fetched from");
}

/** Throws a `wrong` failure for a redirect that would leave https, or leave this machine without it. */
export function requireSafeRedirect(from: URL, to: URL, plainHttp: boolean): void {
  if (to.protocol === "https:") return;
  const plain = to.protocol === "http:" && from.protocol === "http:";
  const near = (isLoopback(from) && isLoopback(to)) || (plainHttp && to.host === from.host);
  if (plain && near) return;
  throw new SourceFailure("wrong", `it redirects to ${to.origin}, which is not https`);
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");

/** Whether the address is this machine. */
export function isLoopback({ hostname }: URL): boolean {
  if (hostname === "localhost" || hostname === "[::1]") return true;
  return /^[\d.]+$/.test(hostname) && LOOPBACK.check(hostname, "ipv4");
}
