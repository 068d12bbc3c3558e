import { type LookupAddress, lookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { buildConnector } from "undici";

/** A host that may not be fetched from; `host` as it stands in the address. */
export class PrivateHost extends Error {
  override readonly name = "PrivateHost";
  constructor(readonly host: string) {
    super(`${host} has no public address`);
  }
}

/** All addresses of a host, as `dns.lookup` gives them. */
export type Resolve = (
  host: string,
  done: (error: Error | null, addresses: LookupAddress[]) => void,
) => void;

/** The system's own resolution. */
export const systemResolve: Resolve = (host, done) =>
  lookup(host, { all: true, verbatim: true }, done);

/**
 * Connects to public addresses only: what a name resolves to is checked where the connection is made, so that
 * no second resolution can give another address. Of mixed answers the public ones are used.
 * @param isAllowed which addresses may be connected to
 */
export function guardedConnector(
  resolve: Resolve,
  connectMs: number,
  isAllowed: (address: string) => boolean,
): buildConnector.connector {
  const guarded: LookupFunction = (host, options, done) =>
    resolve(host, (error, addresses) => {
      if (error) return done(error, "", 0);
      const allowed = addresses.filter(({ address }) => isAllowed(address));
      const first = allowed[0];
      if (first === undefined) return done(new PrivateHost(host), "", 0);
      if (options.all) return done(null, allowed);
      return done(null, first.address, first.family);
    });
  const connect = buildConnector({ lookup: guarded, timeout: connectMs });
  return (options, done) => {
    const host = options.hostname.replace(/^\[|\]$/g, "");
    // An address as such is never looked up.
    if (isIP(host) && !isAllowed(host)) return done(new PrivateHost(host), null);
    return connect(options, done);
  };
}
