import { BlockList, isIP } from "node:net";

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

/** The addresses that `server.host` stands for: `localhost` is 127.0.0.1 and ::1; no repeats. */
export function listenAddresses(host: string | readonly string[]): string[] {
  const hosts = typeof host === "string" ? [host] : host;
  const addresses = hosts.flatMap((name) =>
    name.toLowerCase() === "localhost" ? ["127.0.0.1", "::1"] : [name],
  );
  return [...new Set(addresses)];
}

/** Whether only programs of this machine reach the address. A name other than localhost is not known to be. */
export function isLoopbackHost(host: string): boolean {
  if (host.toLowerCase() === "localhost") return true;
  const version = isIP(host);
  return version !== 0 && LOOPBACK.check(host, version === 6 ? "ipv6" : "ipv4");
}
