/** Writes the nodes that pods without a place of the plan keep to: see kube/gang-topology.ts. */
import type { Stored } from "../../core/object.ts";
import { type GangTopology, hostnameLabel, mostTopologyText } from "../../kube/gang-topology.ts";
import type { KeptHyperNode, Plan } from "./fit.ts";

/** The most characters of all lists; the nodes of a plan come first, and further ones may be left out. */
const mostListed = 24_000;

type Lists = { readonly numbers: Map<ReadonlySet<string>, number>; readonly lists: (readonly string[])[] };

const listFor = (
  nodes: ReadonlySet<string>,
  first: ReadonlySet<string>,
  hosts: ReadonlyMap<string, string>,
  most: number,
) => {
  const ordered = [
    ...[...nodes].filter((name) => first.has(name)),
    ...[...nodes].filter((name) => !first.has(name)).sort(),
  ];
  const list: string[] = [];
  let size = 0;
  for (const name of ordered) {
    const host = hosts.get(name);
    if (host === undefined) continue;
    size += host.length + 3;
    if (size > most) break;
    list.push(host);
  }
  return list;
};

/**
 * Returns the annotation of a group that enters; undefined if its pods may be anywhere. `tooLong`: it has too many partitions.
 */
export const topologyText = (
  { keeps = [], places }: Plan,
  nodes: readonly Stored[],
): string | undefined | "tooLong" => {
  if (keeps.length === 0) return undefined;
  const hosts = new Map(
    nodes.flatMap(({ metadata: { name, labels = {} } }) =>
      labels[hostnameLabel] === undefined ? [] : [[name, labels[hostnameLabel]] as const],
    ),
  );
  const planned = new Set(places.map(({ node }) => node));
  const sets = new Set(keeps.flatMap(({ near, within }) => (within === undefined ? [near] : [near, within])));
  const own: Lists = { numbers: new Map(), lists: [] };
  for (const one of sets)
    own.numbers.set(one, own.lists.push(listFor(one, planned, hosts, mostListed / sets.size)) - 1);
  const indices = (of: (kept: KeptHyperNode) => ReadonlySet<string> | undefined): Readonly<Record<string, number>> =>
    Object.fromEntries(
      keeps.flatMap((kept) => {
        const at = own.numbers.get(of(kept) ?? new Set());
        return at === undefined ? [] : [[kept.key, at] as const];
      }),
    );
  const within = indices((kept) => kept.within);
  const near = indices(({ near: set, within: all }) => (set === all ? undefined : set));
  const topology: GangTopology = { lists: own.lists, within, near };
  const text = JSON.stringify(topology);
  return text.length > mostTopologyText ? "tooLong" : text;
};
