/**
 * Decides which addresses a listener may have: those of the open Internet, not those that only this network can reach.
 */
import { BlockList, isIPv6 } from "node:net";

type Row = readonly [network: string, prefix: number];

/**
 * Addresses that are not globally reachable, by IANA's registry of special-purpose addresses; link-local includes the
 * clouds' metadata services. One public address belongs to Azure's platform, which answers its machines there.
 */
const closed4: readonly Row[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["168.63.129.16", 32],
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

/**
 * All globally routed IPv6 addresses are in this network, except those for embedded IPv4, documentation and benchmarks.
 */
const open6: readonly Row[] = [["2000::", 3]];
const closed6: readonly Row[] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
];

const listOf = (family: "ipv4" | "ipv6", rows: readonly Row[]): BlockList => {
  const list = new BlockList();
  for (const [network, prefix] of rows) list.addSubnet(network, prefix, family);
  return list;
};

/** True for addresses of the open Internet; false for an IPv4 address in IPv6 form. */
export const isPublic = (address: string): boolean => {
  if (!isIPv6(address)) return !listOf("ipv4", closed4).check(address, "ipv4");
  return listOf("ipv6", open6).check(address, "ipv6") && !listOf("ipv6", closed6).check(address, "ipv6");
};
