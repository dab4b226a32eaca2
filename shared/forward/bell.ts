/**
 * The keys that a request to the API server concerns, from the review that an admission webhook receives: the review brings the
 * object before and after the change, so the watches of the kinds judge it as a forwarder does, and nothing is cached or
 * read. The API server has not stored the change yet, and may never: each message names the version that the change replaces.
 */
import { forgetOldest } from "../core/cache.ts";
import { fieldsOf, same } from "../core/json.ts";
import { dedupe, evictionKey, type Key, type Message, type Replaced, textOf } from "../core/key.ts";
import type { Stored } from "../core/object.ts";
import { timeText } from "../core/time.ts";
import type { Queue } from "../engine/ports.ts";
import type { AdmissionRequest, AdmittedObject } from "../kube/admission.ts";
import { isEnding } from "../kube/pods.ts";
import { nodes, pods } from "../kube/resources.ts";
import { isStored } from "../kube/responses.ts";
import { selectorOf } from "../kube/selector.ts";
import { type Change, type Subject, sendingsOf } from "./keys.ts";

export type BellContext = {
  /** Alias of the cluster in keys. */
  readonly cluster: string;
  readonly subjects: readonly Subject[];
  /** Returns the notices for a node that goes at this time, epoch ms. */
  readonly notices: (node: string, until: number) => readonly Message[];
  /** True for a namespace in scope; "" stands for cluster-scoped objects. */
  readonly within: (namespace: string) => boolean;
  /** Epoch ms. */
  readonly now: number;
};

/** A message for a key. `isWhole`: its step needs no second message, because it waits for what it is about by itself. */
export type Ring = { readonly message: Message; readonly urgent?: true; readonly isWhole?: true };

/** The version of an object that is not stored yet. */
const unstored = "0";

/** Returns the object with an identity. A new object has no version yet; one that replaces another has that one's. */
const storedIn = (object: AdmittedObject | null | undefined, resourceVersion: unknown): Stored | undefined => {
  if (!object) return undefined;
  const stored = { ...object, metadata: { ...object.metadata, resourceVersion: resourceVersion ?? unstored } };
  return isStored(stored) ? stored : undefined;
};

const hasFinalizers = ({ metadata: { finalizers = [] } }: Stored): boolean => finalizers.length > 0;

/** The object after a deletion with a grace period, or one that finalizers hold up. */
const ending = (object: Stored, now: number): Stored => ({
  ...object,
  metadata: { deletionTimestamp: timeText(now), ...object.metadata },
});

/** True if the object stays for a while after this deletion. */
const lingers = ({ options }: AdmissionRequest, old: Stored): boolean =>
  !isEnding(old) && ((options?.gracePeriodSeconds ?? 0) > 0 || hasFinalizers(old));

/** Returns the change that a request makes to an object; undefined if it makes none. */
const changeIn = (request: AdmissionRequest, now: number): Change | undefined => {
  const version = request.oldObject?.metadata["resourceVersion"];
  const [before, after] = [storedIn(request.oldObject, version), storedIn(request.object, version)];
  switch (request.operation) {
    case "CREATE":
      return after === undefined ? undefined : { before: undefined, after };
    case "DELETE":
      if (before === undefined) return undefined;
      return { before, after: lingers(request, before) ? ending(before, now) : undefined };
    default:
      if (before === undefined || after === undefined || same(before, after)) return undefined;
      // The API server removes an object that is being deleted with its last finalizer, and sends no review of a deletion.
      return isEnding(after) && hasFinalizers(before) && !hasFinalizers(after)
        ? { before, after: undefined }
        : { before, after };
  }
};

/** Returns the test of a field selector such as `spec.schedulerName=volcano`. */
const fieldTest = (selector: string | undefined): ((object: Stored) => boolean) => {
  const [path = "", value = ""] = selector?.split("=") ?? [];
  if (selector === undefined) return () => true;
  return (object) => path.split(".").reduce<unknown>((at, field) => fieldsOf(at)[field], object) === value;
};

/** Returns the change as a watch with the subject's selectors would show it; undefined if it would not. */
const selectedChange = ({ selector = "", field }: Subject, { before, after }: Change): Change | undefined => {
  const [selects = () => false, hasField] = [selectorOf(selector), fieldTest(field)];
  const chosen = (object: Stored | undefined): Stored | undefined =>
    object !== undefined && selects(object.metadata.labels ?? {}) && hasField(object) ? object : undefined;
  const [was, is] = [chosen(before), chosen(after)];
  if (is !== undefined) return { before: was, after: is };
  return was === undefined ? undefined : { before: was, after: undefined };
};

const isSubject = ({ resource, kind }: AdmissionRequest, subject: Subject): boolean =>
  resource?.resource === subject.resource.plural &&
  resource.group === subject.resource.group &&
  kind.group === subject.resource.group &&
  kind.kind === subject.resource.kind;

const trimmed = ({ trim }: Subject, { before, after }: Change): Change => {
  const was = before === undefined ? undefined : trim(before);
  if (after !== undefined) return { before: was, after: trim(after, was) };
  return was === undefined ? { before: trim(before ?? after), after: undefined } : { before: was, after: undefined };
};

/** Returns what tells that the change is visible. */
const replacedIn = ({ resource, oldObject }: AdmissionRequest, { before, after }: Change): Pick<Message, "after"> => {
  const object = after ?? before;
  if (resource === undefined || object === undefined) return {};
  const { namespace = "", name, uid } = object.metadata;
  const resourceVersion = oldObject?.metadata["resourceVersion"];
  const { group, version, resource: plural } = resource;
  const replaced: Replaced = { group, version, plural, namespace, name, uid };
  return { after: [typeof resourceVersion === "string" ? { ...replaced, resourceVersion } : replaced] };
};

type Changed = {
  readonly change: Change;
  /** The versions that the change replaces, by which a step sees that it is visible; absent: it is. */
  readonly replaced?: Pick<Message, "after">;
};

/** Returns the messages for a change of a watched object. */
const ringsFor = (
  { change, replaced = {} }: Changed,
  subjects: readonly Subject[],
  cluster: string,
): readonly Ring[] => {
  const sendings = subjects.flatMap((subject) => {
    const selected = selectedChange(subject, change);
    return selected === undefined ? [] : sendingsOf(cluster, subject, trimmed(subject, selected));
  });
  const rings = new Map<string, Ring>();
  for (const { message, urgent } of sendings) {
    const { kind, namespace, name, reason } = message;
    const isUrgent = urgent === true || rings.get(textOf(message))?.urgent === true;
    // The hints of a watch say that the object is visible, which it is not.
    const ring = { message: { cluster, kind, namespace, name, reason, ...replaced } };
    rings.set(textOf(message), isUrgent ? { ...ring, urgent: true } : ring);
  }
  return [...rings.values()];
};

/** Returns the messages for a pod whose eviction has begun its deletion. */
export const evictedRings = (
  pod: Stored,
  { subjects, cluster }: Pick<BellContext, "subjects" | "cluster">,
): readonly Ring[] => {
  const { deletionTimestamp: _, ...metadata } = pod.metadata;
  const own = subjects.filter(({ resource: { group, plural } }) => group === pods.group && plural === pods.plural);
  return ringsFor({ change: { before: { ...pod, metadata }, after: pod } }, own, cluster);
};

/** True for a request whose eviction would change nothing. */
const isTrial = (request: AdmissionRequest): boolean => {
  const { dryRun } = fieldsOf(request.object?.["deleteOptions"]);
  return request.dryRun === true || (Array.isArray(dryRun) && dryRun.length > 0);
};

const isCore = ({ resource }: AdmissionRequest, plural: string): boolean =>
  resource?.group === "" && resource.resource === plural;

/** An eviction deletes its pod without a review of the deletion, and carries neither labels nor a version of the pod. */
const evictionIn = (request: AdmissionRequest, { cluster, within }: BellContext): readonly Ring[] => {
  const { name = request.name ?? "", namespace = request.namespace ?? "" } = request.object?.metadata ?? {};
  if (request.kind.kind !== "Eviction" || name === "" || !within(namespace)) return [];
  return [{ message: { ...evictionKey({ cluster, namespace, name }), reason: "evicted" }, isWhole: true }];
};

const nodeIn = ({ operation, oldObject }: AdmissionRequest, { notices, now }: BellContext): readonly Ring[] => {
  const name = oldObject?.metadata.name;
  if (operation !== "DELETE" || name === undefined) return [];
  return notices(name, now).map((message) => ({ message, isWhole: true }));
};

/** Returns the messages for a review. They are hints like every message: each step reads what holds. */
export const ringsOf = (request: AdmissionRequest, context: BellContext): readonly Ring[] => {
  const { subResource = "" } = request;
  if (isTrial(request)) return [];
  if (subResource === "eviction") return isCore(request, pods.plural) ? evictionIn(request, context) : [];
  if (subResource !== "" && subResource !== "status") return [];
  if (isCore(request, nodes.plural)) return nodeIn(request, context);
  const change = changeIn(request, context.now);
  if (change === undefined) return [];
  const subjects = context.subjects.filter((subject) => isSubject(request, subject));
  const rings = ringsFor({ change, replaced: replacedIn(request, change) }, subjects, context.cluster);
  return rings.filter(({ message }) => context.within(message.namespace));
};

/** The rings of a key within such a time are one message at once and one later, ms. */
const bucketMs = 1_000;
/** Urgent ones within such a time are one message, ms. */
const urgentBucketMs = 250;
/** The delay of the later message, ms: it stands for the rings whose message was dropped, and for changes that came late. */
const trailMs = 2_000;

type Sent = { readonly message: Message; readonly id: string; readonly delayMs: number };

const bucketOf = (now: number, lengthMs: number): string => `${lengthMs} ${Math.floor(now / lengthMs)}`;

/**
 * Returns the messages of rings. No process sees all rings of a key, so the queue coalesces them: it drops a message under an
 * id that it has had. The first ring of a time is sent at once; the last one may be dropped, and the later message stands for it.
 */
export const sentFor = (rings: readonly Ring[], now: number): readonly Sent[] =>
  rings.flatMap(({ message, urgent, isWhole }): readonly Sent[] => {
    const { after: _, reason, ...rest } = message;
    const key: Key = rest;
    const lead = urgent === true ? `urgent ${bucketOf(now, urgentBucketMs)}` : `lead ${bucketOf(now, bucketMs)}`;
    const first = { message, id: dedupe.bell(key, lead), delayMs: 0 };
    if (isWhole === true) return [first];
    const id = dedupe.bell(key, `trail ${bucketOf(now, bucketMs)}`);
    return [first, { message: { ...rest, reason }, id, delayMs: trailMs }];
  });

/** The most ids that a process remembers. The queue drops the message of an id that was forgotten. */
const mostRemembered = 5_000;

/** Sends the messages of rings. Rejects if the queue refuses one. `now`: epoch ms. */
export type Ringer = (rings: readonly Ring[], now: number) => Promise<void>;

/**
 * Opens what sends the messages of rings. What this process sends, or has sent, under an id is not sent again: the queue would
 * drop it, and a job of many pods would cost a request each.
 */
export const openRinger = (queue: Queue): Ringer => {
  const known = new Map<string, Promise<void>>();
  const sendOnce = ({ message, id, delayMs }: Sent): Promise<void> => {
    const before = known.get(id);
    if (before !== undefined) return before;
    const sending = delayMs === 0 ? queue.send(message, id) : queue.sendLater(message, id, delayMs);
    known.set(id, sending);
    forgetOldest(known, mostRemembered);
    sending.catch(() => known.delete(id));
    return sending;
  };
  return async (rings, now) => void (await Promise.all(sentFor(rings, now).map(sendOnce)));
};
