/**
 * Writes a notice about a node as an annotation on the node's pods, where every step sees it. The message stays in the
 * queue until all annotations are written, so a death in between repeats the writes; a repetition finds them done.
 *
 * N1. A pod's annotation names the earliest known end since the last notice that the node stays, which removes it. It is
 *     written only if the pod is unchanged since it was read.
 * N2. This module deletes nothing: the steps of the pods' owners decide what follows.
 */

import { ApiError } from "../core/http.ts";
import { dedupe, type Key, type Message, noticedKind, textOf } from "../core/key.ts";
import type { Obj, Stored } from "../core/object.ts";
import type { Watch } from "../core/operator.ts";
import { timeText } from "../core/time.ts";
import type { Cluster, Queue, Report } from "../engine/ports.ts";
import { typed } from "../kube/objects.ts";
import { isEnding, isOver, leavingAnnotation, leavingAt, podStatus } from "../kube/pods.ts";
import { nodes, pods } from "../kube/resources.ts";
import { expressionsOf } from "../kube/selector.ts";

/** The dependencies of taking a notice. */
export type NoticeContext = {
  readonly cluster: Pick<Cluster, "list" | "patch">;
  readonly queue: Pick<Queue, "send">;
  readonly report: Report;
  readonly operatorOf: (kind: string) => { readonly watches: readonly Watch[] } | undefined;
  /** True if this deployment is in charge of the key; absent: of every key. */
  readonly inCharge?: (key: Key, labels: undefined) => boolean | Promise<boolean>;
  /** The namespaces whose pods are listed; empty: all. */
  readonly namespaces: readonly string[];
  /** Set in shadow mode: nothing is written. */
  readonly shadow?: unknown;
};

export type Noticed =
  | { readonly did: "nothing"; readonly why: string }
  | { readonly did: "step"; readonly writes: number };

/** The form of an EC2 instance id. */
const instance = /^i-[0-9a-f]{8,17}$/;

const isMachine = (node: Stored, id: string): boolean => {
  const { name } = node.metadata;
  return typed("Node", node).spec?.providerID?.endsWith(`/${id}`) === true || name.startsWith(`${id}.`);
};

/** Tries after which a missing right is taken as permanent. */
const mostTries = 2;

/**
 * Returns the name of the node; undefined if the machine is none of this cluster, or if listing nodes stays forbidden.
 */
const nodeOf = async ({ cluster, report }: NoticeContext, message: Message): Promise<string | undefined> => {
  const { name, tries = 0 } = message;
  if (!instance.test(name)) return name;
  try {
    const { value } = await cluster.list({ do: "list", resource: nodes, namespace: "", labels: {} });
    return value.find((node) => node.metadata.name === name || isMachine(node, name))?.metadata.name;
  } catch (cause) {
    if (!(cause instanceof ApiError) || cause.status !== 403) throw cause;
    report("error", "a machine is about to stop, and this account may not look up its node: grant it list of nodes", {
      machine: name,
    });
    if (tries < mostTries) throw cause;
    return undefined;
  }
};

/** Returns the labels that a selector requires with one value. */
const labelsIn = (selector: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    expressionsOf(selector).flatMap(({ key, operator, values: [value, ...others] = [] }) =>
      operator === "In" && value !== undefined && others.length === 0 ? [[key, value]] : [],
    ),
  );

type Notice = Pick<Message, "until" | "stays">;

/** N1. True if the pod's annotation names this end, or an earlier one that is not taken back. */
const isAnnounced = (pod: Obj, { until, stays }: Notice): boolean => {
  const announced = leavingAt(pod);
  if (stays === true || until === undefined) return announced === until;
  return announced !== undefined && announced <= until;
};

type AffectedPod = { readonly pod: Stored; readonly key: Key };

/** Finds the live pods on the node that an object of this kind owns and this deployment is in charge of. */
const affectedPods = async (
  context: NoticeContext,
  { cluster, kind }: Pick<Key, "cluster" | "kind">,
  node: string,
): Promise<readonly AffectedPod[]> => {
  const watch = context.operatorOf(kind)?.watches.find(({ resource }) => resource === pods);
  if (watch === undefined) return [];
  const places = context.namespaces.length === 0 ? [""] : context.namespaces;
  const labels = labelsIn(watch.selector ?? "");
  const field = `spec.nodeName=${node}`;
  const look = (namespace: string) => context.cluster.list({ do: "list", resource: pods, namespace, labels, field });
  const first = await Promise.all(places.map(look));
  // One list may be outdated: a pod that it misses would get no annotation, and no later notice repeats it.
  const second = await Promise.all(places.map(look));
  const all = [...first, ...second].flatMap(({ value }) => value);
  const owned = [...new Map(all.map((pod) => [pod.metadata.uid, pod])).values()]
    .filter((pod) => !isEnding(pod) && !isOver(podStatus(pod)))
    .flatMap((pod) => {
      const name = watch.ownerName(pod);
      const { namespace = "" } = pod.metadata;
      return name === undefined ? [] : [{ pod, key: { cluster, kind, namespace, name } }];
    });
  const ours = await Promise.all(owned.map(({ key }) => context.inCharge?.(key, undefined) ?? true));
  return owned.filter((_, at) => ours[at] === true);
};

/**
 * Writes the annotation, or removes it. If the pod has changed since it was read, or is gone, the patch fails and the notice is
 * retried.
 */
const write = async ({ cluster }: NoticeContext, { pod }: AffectedPod, { until }: Notice): Promise<void> => {
  const { name, namespace = "", uid, resourceVersion } = pod.metadata;
  const annotations = { [leavingAnnotation]: until === undefined ? null : timeText(until) };
  await cluster.patch({ resource: pods, namespace, name }, { uid, resourceVersion }, { metadata: { annotations } });
};

/** The number of parallel writes. */
const parallel = 16;

const writeAll = async (context: NoticeContext, affected: readonly AffectedPod[], notice: Notice): Promise<void> => {
  for (let at = 0; at < affected.length; at += parallel) {
    const some = affected.slice(at, at + parallel);
    const ends = await Promise.allSettled(some.map((one) => write(context, one, notice)));
    const failed = ends.find((end) => end.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }
};

/** Sends the owners' keys. The watch events of the pods bring them, too, unless they are lost. */
const tellOwners = async (
  { queue }: NoticeContext,
  affected: readonly AffectedPod[],
  { until, stays }: Notice,
): Promise<void> => {
  // A node may be given notice of, and the notice be taken back, again and again.
  const versions = stays === true ? affected.map(({ pod }) => pod.metadata.resourceVersion).join() : "";
  const event = `notice ${until ?? "of none"} ${versions}`.trim();
  const keys = new Map(affected.map(({ key }) => [textOf(key), key]));
  await Promise.all(
    [...keys.values()].map((key) => queue.send({ ...key, reason: "notice" }, dedupe.trigger(key, event))),
  );
};

/** Returns the function that takes notices. It throws the platform's errors, and the notice is retried. */
export const noticing =
  (context: NoticeContext) =>
  async (message: Message): Promise<Noticed> => {
    const kind = noticedKind(message) ?? "";
    const { until, stays } = message;
    if (until === undefined && stays !== true) return { did: "nothing", why: "the notice has no time" };
    if (context.shadow !== undefined) return { did: "nothing", why: "dry run" };
    const node = await nodeOf(context, message);
    if (node === undefined) return { did: "nothing", why: `no node of this cluster is ${message.name}` };
    const affected = await affectedPods(context, { cluster: message.cluster, kind }, node);
    const unaware = affected.filter(({ pod }) => !isAnnounced(pod, message));
    await writeAll(context, unaware, message);
    await tellOwners(context, affected, message);
    context.report("info", `node ${node} ${until === undefined ? "stays" : `goes at ${timeText(until)}`}`, {
      pods: affected.length,
      notified: unaware.length,
    });
    return { did: "step", writes: unaware.length };
  };
