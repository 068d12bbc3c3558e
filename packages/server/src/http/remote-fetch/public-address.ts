import { BlockList, isIP } from "node:net";

/**
 * What is not the public internet: IANA's special-purpose registries for IPv4 (RFC 6890 and its successors),
 * multicast and the reserved block.
 */
const IPV4_NOT_PUBLIC: readonly [string, number][] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
];

/** Global unicast of IPv6; all else is local, mapped, translated or reserved. */
const IPV6_PUBLIC: readonly [string, number] = ["2000::", 3];

/** Inside global unicast: protocol assignments (Teredo among them), documentation, 6to4. */
const IPV6_NOT_PUBLIC: readonly [string, number][] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
];

const notPublic = new BlockList();
for (const [network, bits] of IPV4_NOT_PUBLIC) notPublic.addSubnet(network, bits, "ipv4");
for (const [network, bits] of IPV6_NOT_PUBLIC) notPublic.addSubnet(network, bits, "ipv6");
const globalUnicast = new BlockList();
globalUnicast.addSubnet(...IPV6_PUBLIC, "ipv6");

/** Whether an address, without brackets or zone, is one of the public internet. What is no address is not. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !notPublic.check(address, "ipv4");
    case 6:
      return globalUnicast.check(address, "ipv6") && !notPublic.check(address, "ipv6");
    default:
      return false;
  }
}
