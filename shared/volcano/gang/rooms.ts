/** The room of nodes: what each can allocate, less the needs of the pods that have a place there, and these pods' neighbours. */
import { fieldsOf } from "../../core/json.ts";
import type { Stored } from "../../core/object.ts";
import { pinOf } from "../../kube/nodes.ts";
import { areApart, type Neighbour, neighbourOf } from "../../kube/pod-anti-affinity.ts";
import { type Amounts, amountsIn } from "../../kube/pod-usage.ts";
import { isOver, nodeNameOf, podStatus } from "../../kube/pods.ts";
import { freeOf, needsOf, take } from "./needs.ts";

/** A node and its free amounts, billionths by resource; `pods` is the number of further pods. */
export type Room = {
  readonly node: Stored;
  readonly free: ReadonlyMap<string, bigint>;
  /** The pods that have a place there. */
  readonly pods: readonly Neighbour[];
  /** Those among them with anti-affinity of their own. */
  readonly guarded: readonly Neighbour[];
};

/** Equal pods: the amounts that each takes of a node, and the constraints that keep it off a node. */
export type Occupant = { readonly needs: Amounts; readonly neighbour: Neighbour };

/** True if a pod of the node and the occupant may not be on one node. */
export const isApart = ({ pods, guarded }: Room, { neighbour }: Occupant): boolean =>
  (neighbour.terms.length > 0 ? pods : guarded).some((pod) => areApart(neighbour, pod));

const allocatableOf = (node: Stored): Amounts => amountsIn(fieldsOf(node.status)["allocatable"]);

/** Returns the room after `count` of these pods are placed there. */
export const roomAfter = ({ node, free, pods, guarded }: Room, { needs, neighbour }: Occupant, count: number): Room => {
  const left = new Map(free);
  take(left, needs, count);
  if (count <= 0) return { node, free: left, pods, guarded };
  return {
    ...{ node, free: left, pods: [...pods, neighbour] },
    guarded: neighbour.terms.length > 0 ? [...guarded, neighbour] : guarded,
  };
};

/** Returns how many of these pods fit, at most `most`. As kube-scheduler's fit: a request of 0 always fits. */
export const placesIn = (room: Room, occupant: Occupant & { readonly isAlone: boolean }, most: number): number => {
  const { free } = room;
  const { needs, isAlone } = occupant;
  if (isApart(room, occupant)) return 0;
  let places = BigInt(isAlone ? Math.min(1, most) : most);
  for (const [name, { nano }] of needs) {
    const left = nano > 0n ? (freeOf(free, name) ?? 0n) / nano : places;
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
        free: new Map([...allocatableOf(node)].map(([name, { nano }]) => [name, nano] as const)),
        ...{ pods: [], guarded: [] },
      }),
    )
    .sort((a, b) => (a.node.metadata.name < b.node.metadata.name ? -1 : 1));

/** The node of a pod that is bound, that the scheduler has nominated one for, or that is pinned to one. */
export const placeOf = (pod: Stored): string | undefined => {
  const { nominatedNodeName } = fieldsOf(pod.status);
  const nominated = typeof nominatedNodeName === "string" ? nominatedNodeName : undefined;
  return nodeNameOf(pod) ?? nominated ?? pinOf(fieldsOf(pod.spec));
};

/** Returns the room as if it took no pod. */
export const closed = (room: Room): Room => ({ ...room, free: new Map() });

/** Takes the needs of unfinished pods from their nodes; pods under deletion hold their room until they end. */
export const takenByPods = (rooms: readonly Room[], pods: readonly Stored[]): readonly Room[] => {
  const used = Map.groupBy(
    pods.filter((pod) => !isOver(podStatus(pod))),
    placeOf,
  );
  return rooms.map((room) => {
    const there = used.get(room.node.metadata.name);
    if (there === undefined) return room;
    const free = new Map(room.free);
    for (const pod of there) take(free, needsOf(fieldsOf(pod.spec)));
    const own = there.map(({ metadata: { namespace = "", labels = {} }, spec }) =>
      neighbourOf({ namespace, labels, spec: fieldsOf(spec) }),
    );
    const guarding = own.filter(({ terms }) => terms.length > 0);
    return { ...room, free, pods: [...room.pods, ...own], guarded: [...room.guarded, ...guarding] };
  });
};
