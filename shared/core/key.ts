/**
 * The key of an object to reconcile, the message that carries it with the reason of its sending, and the trace id that
 * leads from an event to all of its consequences, as W3C Trace Context writes it: `00-TRACE-SPAN-FLAGS`, in hex.
 */
import { hash } from "node:crypto";

/** One application: `cluster` is a configured alias, never an endpoint; `kind` is that of `keyKindOf`. */
export type Key = {
  readonly cluster: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
};

/** An object, and the version of it that a change replaces. */
export type Replaced = {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  /** "" for a cluster-scoped object. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Absent: the change creates the object. */
  readonly resourceVersion?: string | undefined;
};

/** A message in the queue: the key and hints. A step believes only the key, and reads the present state. */
export type Message = Key & {
  readonly reason: string;
  readonly resourceVersion?: string;
  /** The forwarder has seen the object appear: probably no step has been taken for it yet. */
  readonly fresh?: true;
  /**
   * Set on messages from watch events, and on requeues after a plan that is right on watched objects: the step may begin
   * with the cache of its process.
   */
  readonly watched?: true;
  /** The number of troubles in a row for this key: the backoff grows with it. */
  readonly tries?: number;
  /** The number of times in a row that the key has met a standby: it comes again more rarely then. */
  readonly standbys?: number;
  /**
   * In a notice: the instant at which the node goes, epoch ms. The one hint that a step believes, because no read gives
   * it.
   */
  readonly until?: number;
  /** In a notice: earlier notices of the node hold no longer. Without `until` the node stays. */
  readonly stays?: true;
  /**
   * The message is about changes that the API server may not have stored yet: a change is visible when a read of its
   * object shows another version than the one that it replaces.
   */
  readonly after?: readonly Replaced[];
  /** The number of times in a row that the message was put off until the changes of `after` are visible. */
  readonly looks?: number;
  /** In a timer: the instant that it was set for, epoch ms. It tells a timer that came too early from others. */
  readonly due?: number;
  /** W3C trace context of the event that led to this message, so that logs show their connection. */
  readonly trace?: string;
};

/** The longest reason of a message, characters. */
export const longestReason = 200;

/** Shortens the reason, which may contain a long name: a receiver rejects longer ones. */
export const withShortReason = (message: Message): Message => ({
  ...message,
  reason: message.reason.slice(0, longestReason),
});

/** The reason of a message that a step has sent for a later time. */
export const timerReason = "timer";

/** The longest delay of a message that every queue takes, ms, as SQS has it; a resync sends timers that are further away. */
export const longestDelayMs = 900_000;

/** The key as people and logs write it: `cluster/kind/namespace/name`. */
export const textOf = (key: Key): string => `${key.cluster}/${key.kind}/${key.namespace}/${key.name}`;

const ofUpdates = "updates.";

/** Returns the key under which the updates of `key` are delivered. No kind of Kubernetes has a dot in its name. */
export const deliveryKey = ({ cluster, kind, namespace, name }: Key): Key => ({
  cluster,
  kind: `${ofUpdates}${kind}`,
  namespace,
  name,
});

/** Returns the key whose updates are delivered under this one; undefined if it is not a delivery key. */
export const subjectOf = ({ cluster, kind, namespace, name }: Key): Key | undefined =>
  kind.startsWith(ofUpdates) ? { cluster, kind: kind.slice(ofUpdates.length), namespace, name } : undefined;

const ofNotices = "notices.";

/**
 * Returns the key of a notice about a node, for objects of this kind. `node` is the name of the node, or its provider's
 * id of the machine.
 */
export const noticeKey = (cluster: string, kind: string, node: string): Key => ({
  cluster,
  kind: `${ofNotices}${kind}`,
  namespace: "",
  name: node,
});

/** Returns the kind that a notice is for; undefined if the key is not a notice. */
export const noticedKind = ({ kind }: Key): string | undefined =>
  kind.startsWith(ofNotices) ? kind.slice(ofNotices.length) : undefined;

const ofEvictions = "evictions.";

/** Returns the key of the eviction of a pod: its request names the pod, and nothing that leads to the pod's owner. */
export const evictionKey = ({ cluster, namespace, name }: Omit<Key, "kind">): Key => ({
  cluster,
  kind: `${ofEvictions}Pod`,
  namespace,
  name,
});

/** True for the key of an eviction. */
export const isEviction = ({ kind }: Key): boolean => kind.startsWith(ofEvictions);

/** Hex digest of any parts; the separator cannot occur in a Kubernetes name. */
export const digest = (...parts: readonly string[]): string => hash("sha256", parts.join("|"));

/** Returns the message group of a key: a hash, because a key may be longer than the 128 characters that SQS takes. */
export const groupOf = (key: Key): string => digest(textOf(key)).slice(0, 40);

/**
 * Deduplication ids by source. Only copies of one event may cancel each other, so each source has its own form, and
 * each id contains the key.
 */
export const dedupe = {
  watch: (key: Key, child: { kind: string; uid: string; resourceVersion: string }): string =>
    digest("w", textOf(key), child.kind, child.uid, child.resourceVersion),
  gone: (key: Key, uid: string): string => digest("gone", textOf(key), uid),
  timer: (key: Key, id: string): string => digest("t", textOf(key), id),
  sweep: (key: Key, sweep: string): string => digest("s", sweep, textOf(key)),
  bell: (key: Key, bucket: string): string => digest("b", textOf(key), bucket),
  trigger: (key: Key, eventId: string): string => digest("a", textOf(key), eventId),
} as const;

/** The form of a valid trace context; an id of zeros only is invalid. */
export const traceForm = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Returns the trace that begins with a message of this deduplication id: copies of one event begin the same trace. */
export const begun = (dedupeId: string): string => {
  const hex = digest("trace", dedupeId);
  return `00-${hex.slice(0, 32)}-${hex.slice(32, 48)}-01`;
};

/** Returns the trace id, which every log line of the trace carries. */
export const idOf = (trace: string): string => trace.slice(3, 35);
