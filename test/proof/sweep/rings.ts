/**
 * The API server's calls of the bell under virtual time: each change of the store makes the review that admission would have
 * made of it, and the real bell takes the keys from it. Faults lose, repeat and delay rings, ring for changes that are never
 * made, and hide a change from reads for a while, as a slow webhook beside the bell does.
 */
import type { HttpRequest, HttpResponse } from "../../../shared/core/http.ts";
import { ringsOf, sentFor } from "../../../shared/forward/bell.ts";
import { subjectsOf } from "../../../shared/forward/keys.ts";
import { readReview } from "../../../shared/kube/admission.ts";
import { tableOf } from "../../../shared/simulator/schema/kinds.ts";
import { type Change, keyOf } from "../../../shared/simulator/storage/store.ts";
import type { ExecutionState } from "./execution-state.ts";
import type { RingFault } from "./fault.ts";
import { textAt } from "./fields.ts";
import type { Post } from "./journal.ts";

/** A ring of a run without a fault. */
export type Rung = {
  readonly n: number;
  /** The change is the cluster's or a user's. What a step has written is visible when the step has its answer. */
  readonly isForeign: boolean;
  /** No message of it was dropped because another one stands for it. */
  readonly isFresh: boolean;
};

type Ringing = Pick<
  ExecutionState,
  "cluster" | "fixture" | "fault" | "operators" | "oracle" | "now" | "later" | "log" | "send"
> & {
  readonly post: Post;
  readonly actor: string;
  readonly nextSweep: number;
  readonly count: { events: number };
};

export type Bell = {
  /** Rings for a change of the store. */
  readonly hear: (change: Change) => void;
  /** Answers a read as if a hidden change were not made yet; undefined while none is hidden. */
  readonly beforeHidden: (request: HttpRequest) => HttpResponse | undefined;
  /** The rings so far. */
  readonly rung: readonly Rung[];
};

/** A binding is a request of its own, whose review has neither labels nor the pod. */
const isBinding = ({ table, object, before }: Change): boolean =>
  table === "pods" &&
  before !== undefined &&
  textAt(before, "spec", "nodeName") === undefined &&
  textAt(object, "spec", "nodeName") !== undefined;

type Review = {
  readonly operation: string;
  readonly name?: string;
  readonly object?: unknown;
  readonly oldObject?: unknown;
  readonly options?: { readonly gracePeriodSeconds: number };
};

/** The grace period of a deletion that is not at once, seconds. */
const grace = 30;

/** A deletion comes as that of a collection does, whose review has no name. */
const reviewOf = ({ type, object, before }: Change): Review => {
  const { name } = object.metadata;
  if (type === "ADDED") return { operation: "CREATE", name, object };
  if (type === "DELETED") return { operation: "DELETE", oldObject: before, options: { gracePeriodSeconds: 0 } };
  const [was, is] = [before, object].map((one) => one?.metadata.deletionTimestamp);
  return was === undefined && is !== undefined
    ? { operation: "DELETE", oldObject: before, options: { gracePeriodSeconds: grace } }
    : { operation: "UPDATE", name, object, oldObject: before };
};

/** The review of a request about the object that admission refuses after the bell: its change is never made. */
const refusedOf = ({ type, object }: Change): Review => {
  const { name, uid } = object.metadata;
  const other = { ...object.metadata, name: `${name}-refused`, uid: `${uid}-refused` };
  return type === "ADDED"
    ? { operation: "CREATE", name: other.name, object: { ...object, metadata: other } }
    : { operation: "DELETE", oldObject: object, options: { gracePeriodSeconds: grace } };
};

/** The buckets of the bell are as long, ms: a ring after this time is not dropped for the one before it. */
const bucketMs = 1_000;

const same = (a: Change, b: Change): boolean =>
  a.table === b.table &&
  keyOf(a.object.metadata.namespace, a.object.metadata.name) ===
    keyOf(b.object.metadata.namespace, b.object.metadata.name);

/** Answers a read from the store as it was before a change, with all other changes in it. */
const readBefore = ({ fixture: { simulator } }: Ringing, change: Change, request: HttpRequest): HttpResponse => {
  const state = simulator.snapshot();
  const { table, object, before } = change;
  const items = new Map(state.store.tables.get(table)?.items);
  const key = keyOf(object.metadata.namespace, object.metadata.name);
  if (before === undefined) items.delete(key);
  else items.set(key, before);
  const tables = new Map(state.store.tables).set(table, { items, epoch: -1, sorted: undefined });
  simulator.restore({ ...state, store: { ...state.store, tables } });
  const answer = simulator.handle(request);
  simulator.restore(state);
  return answer;
};

export const openBell = (execution: Ringing): Bell => {
  const subjects = subjectsOf(execution.operators);
  const rung: Rung[] = [];
  const hidden: { change?: Change } = {};
  const messagesOf = (change: Change, review: Review) => {
    const subject = subjects.find((one) => tableOf(one.resource) === change.table);
    if (subject === undefined || isBinding(change)) return [];
    const { group, version, plural, kind } = subject.resource;
    const about = { kind: { group, version, kind }, resource: { group, version, resource: plural } };
    const { namespace } = change.object.metadata;
    const request = readReview({
      ...{ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" },
      request: { uid: "ring", ...about, namespace, ...review },
    });
    if (request === undefined) throw new Error(`a review that the bell cannot read: ${JSON.stringify(review)}`);
    const context = { cluster: execution.cluster, subjects, notices: () => [], within: () => true };
    return sentFor(ringsOf(request, { ...context, now: execution.now() }), execution.now());
  };
  const ring = (change: Change, review: Review): void => {
    for (const { message, id, delayMs } of messagesOf(change, review))
      execution.send("bell", message, id, delayMs === 0 ? undefined : delayMs);
  };
  const hide = (change: Change, ms: number): void => {
    hidden.change = change;
    execution.later(ms, () => {
      if (hidden.change === change) delete hidden.change;
    });
  };
  const isKnown = (id: string): boolean =>
    execution.post.journal().some((entry) => (entry.do === "send" || entry.do === "later") && entry.id === id);
  /** Rings for a change as its fault says; without one, once and at once. */
  const ringBy = (change: Change, fault: RingFault | undefined): void => {
    const rings = (): void => ring(change, reviewOf(change));
    switch (fault?.do) {
      case "lose":
        execution.oracle.lost?.(execution.nextSweep);
        return;
      case "late":
        execution.later(fault.ms, rings);
        return;
      case "repeat":
        execution.later(bucketMs, rings);
        break;
      case "deceive":
        execution.later(bucketMs, () => ring(change, refusedOf(change)));
        break;
      case "hide":
        hide(change, fault.ms);
        break;
      default:
    }
    rings();
  };
  const hear = (change: Change): void => {
    // The next change of an object is made after the one before it is stored.
    if (hidden.change !== undefined && same(hidden.change, change)) delete hidden.change;
    const sent = messagesOf(change, reviewOf(change));
    if (sent.length === 0) return;
    execution.count.events += 1;
    const n = execution.count.events;
    rung.push({ n, isForeign: execution.actor !== "engine", isFresh: sent.every(({ id }) => !isKnown(id)) });
    const fault = execution.fault.ring?.(n);
    if (fault !== undefined) execution.log(`    ring ${n} — ${JSON.stringify(fault)}`);
    ringBy(change, fault);
  };
  return {
    hear,
    beforeHidden: (request) =>
      hidden.change === undefined ? undefined : readBefore(execution, hidden.change, request),
    rung,
  };
};
