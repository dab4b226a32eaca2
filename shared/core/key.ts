/** The key names what to reconcile; the message that carries it says why, and nothing of what happened. */
import { hash } from "node:crypto";

/** One application: `cluster` is a configured alias, never an endpoint; `kind` is the Kubernetes kind. */
export type Key = {
  readonly cluster: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
};

/** What a queue carries: the key and hints. Nothing in it is believed; the step reads what is. */
export type Message = Key & {
  readonly reason: string;
  readonly resourceVersion?: string;
  /** The object itself was seen to appear: it may well be that no step has been taken for it. */
  readonly fresh?: true;
  /** It was watched: who watches knows all that it tells of. */
  readonly watched?: true;
  /** How often in a row the platform was in the way of this key: the backoff grows with it. */
  readonly tries?: number;
  /** Of a notice: when the node goes, epoch ms. The one hint that is believed, for nothing else tells it. */
  readonly until?: number;
  /** W3C trace context of what called for it, for those who follow an event through logs. */
  readonly trace?: string;
};

/** The key as people and logs write it: `cluster/kind/namespace/name`. */
export const textOf = (key: Key): string => `${key.cluster}/${key.kind}/${key.namespace}/${key.name}`;

const ofUpdates = "updates.";

/** The key under which the updates of `key` are delivered: no kind of Kubernetes has a dot in its name. */
export const deliveryKey = ({ cluster, kind, namespace, name }: Key): Key => ({
  cluster,
  kind: `${ofUpdates}${kind}`,
  namespace,
  name,
});

/** The key whose updates are delivered under this one; undefined when it is none of them. */
export const subjectOf = ({ cluster, kind, namespace, name }: Key): Key | undefined =>
  kind.startsWith(ofUpdates) ? { cluster, kind: kind.slice(ofUpdates.length), namespace, name } : undefined;

const ofNotices = "notices.";

/**
 * The key of a notice that a node is about to go, for objects of this kind. `node` is its name, or what its provider calls
 * the machine.
 */
export const noticeKey = (cluster: string, kind: string, node: string): Key => ({
  cluster,
  kind: `${ofNotices}${kind}`,
  namespace: "",
  name: node,
});

/** The kind that a notice is for; undefined when the key is none. */
export const noticedKind = ({ kind }: Key): string | undefined =>
  kind.startsWith(ofNotices) ? kind.slice(ofNotices.length) : undefined;

/** Hex digest of any parts; the separator cannot stand in a Kubernetes name. */
export const digest = (...parts: readonly string[]): string => hash("sha256", parts.join("|"));

/** The queue's message group: a hash, for names alone may be longer than the 128 characters that SQS takes. */
export const groupOf = (key: Key): string => digest(textOf(key)).slice(0, 40);

/**
 * Deduplication ids by source. Only copies of one watch event may cancel each other, so each source has its own
 * form, and every one holds the key.
 */
export const dedupe = {
  watch: (key: Key, child: { kind: string; uid: string; resourceVersion: string }): string =>
    digest("w", textOf(key), child.kind, child.uid, child.resourceVersion),
  gone: (key: Key, uid: string): string => digest("gone", textOf(key), uid),
  timer: (key: Key, id: string): string => digest("t", textOf(key), id),
  sweep: (key: Key, sweep: string): string => digest("s", sweep, textOf(key)),
  trigger: (key: Key, eventId: string): string => digest("a", textOf(key), eventId),
} as const;
