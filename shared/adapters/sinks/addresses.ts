/** Which addresses may be reached from here: the open Internet, and nothing that only we can reach. */
import { BlockList, isIPv6 } from "node:net";

type Row = readonly [network: string, prefix: number];

/**
 * Not globally reachable, by IANA's registry of special-purpose addresses; link-local holds the clouds' metadata. Azure's
 * platform answers its machines at one address of the open Internet.
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

/** All that is routed lies here; within it, what stands for IPv4 addresses, documentation and benchmarks does not. */
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

/** True for addresses of the open Internet. An IPv4 address written as an IPv6 one is none of them. */
export const isPublic = (address: string): boolean => {
  if (!isIPv6(address)) return !listOf("ipv4", closed4).check(address, "ipv4");
  return listOf("ipv6", open6).check(address, "ipv6") && !listOf("ipv6", closed6).check(address, "ipv6");
};
