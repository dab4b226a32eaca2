/** The room of the cluster's nodes: what they can allocate, less the requests of their unfinished pods. */
import { fieldsOf } from "../../core/json.ts";
import type { Stored } from "../../core/object.ts";
import { pinOf } from "../../kube/node-pin.ts";
import { isOver, nodeNameOf, podStatus } from "../../kube/pods.ts";
import { type Quantity, quantityOf } from "../../kube/quantity.ts";
import { type Amounts, requestsOf } from "../podgroup/usage.ts";

/** A node and its free amounts, billionths by resource; `pods` is the number of further pods. */
export type Room = { readonly node: Stored; readonly free: ReadonlyMap<string, bigint> };

const allocatableOf = (node: Stored): readonly (readonly [string, Quantity])[] =>
  Object.entries(fieldsOf(fieldsOf(node["status"])["allocatable"])).flatMap(([name, text]) => {
    const amount = quantityOf(text);
    return amount === undefined ? [] : [[name, amount] as const];
  });

/** Returns the room after `count` pods with these requests are placed there. */
export const after = ({ node, free }: Room, requests: Amounts, count: number): Room => ({
  node,
  free: new Map(
    [...free].map(([name, nano]) => [name, nano - (requests.get(name)?.nano ?? 0n) * BigInt(count)] as const),
  ),
});

/** Returns how many pods with these requests fit, at most `most`. As kube-scheduler's fit: a request of 0 always fits. */
export const placesIn = ({ free }: Room, requests: Amounts, most: number): number => {
  let places = BigInt(most);
  for (const [name, { nano }] of requests) {
    const left = nano > 0n ? (free.get(name) ?? 0n) / nano : places;
    if (left < places) places = left;
    if (places <= 0n) break;
  }
  return places > 0n ? Number(places) : 0;
};

/** Returns the nodes as if no pod were there, in the order of their names. */
export const emptyRooms = (nodes: readonly Stored[]): readonly Room[] =>
  nodes
    .map(
      (node): Room => ({
        node,
        free: new Map(allocatableOf(node).map(([name, { nano }]) => [name, nano] as const)),
      }),
    )
    .sort((a, b) => (a.node.metadata.name < b.node.metadata.name ? -1 : 1));

/** The node of a pod that is bound, that the scheduler has nominated one for, or that is pinned to one. */
export const placeOf = (pod: Stored): string | undefined => {
  const { nominatedNodeName } = fieldsOf(pod["status"]);
  const nominated = typeof nominatedNodeName === "string" ? nominatedNodeName : undefined;
  return nodeNameOf(pod) ?? nominated ?? pinOf(fieldsOf(pod["spec"]));
};

/** Returns the room as if it took no pod. */
export const closed = ({ node }: Room): Room => ({ node, free: new Map() });

/** Takes the requests of unfinished pods from their nodes; pods under deletion hold their room until they end. */
export const takenByPods = (rooms: readonly Room[], pods: readonly Stored[]): readonly Room[] => {
  const used = Map.groupBy(
    pods.filter((pod) => !isOver(podStatus(pod))),
    placeOf,
  );
  return rooms.map((room) => {
    const there = used.get(room.node.metadata.name);
    if (there === undefined) return room;
    const free = new Map(room.free);
    for (const pod of there)
      for (const [name, { nano }] of requestsOf(fieldsOf(pod["spec"]))) {
        const left = free.get(name);
        if (left !== undefined) free.set(name, left - nano);
      }
    return { ...room, free };
  });
};
