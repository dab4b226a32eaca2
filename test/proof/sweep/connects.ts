/**
 * The invariants of a SparkConnect, judged from objects alone.
 *
 * C1. At most one server runs; none without its SparkConnect, its account and its command, unless a step has just read a
 *     SparkConnect that is gone as it was before: garbage collection ends that server.
 * C2. Steps write only the objects that the SparkConnect owns.
 * C3. Steps delete only ended objects, unless everything is ordered to end: then nothing is left, and no server comes.
 * C4. Steps delete the SparkConnect only if its annotation says so, and when no task of its server has run for so long.
 */
import type { PodScript } from "../../../shared/simulator/nodes/script.ts";
import type { Change } from "../../../shared/simulator/storage/store.ts";
import { at, ownersOf, startOf, textAt } from "./fields.ts";
import { forked } from "./forked.ts";
import { isDelivery } from "./objects.ts";
import type { Oracle, Subject } from "./oracle.ts";

const connects = "sparkconnects.sparkoperator.k8s.io";
const tables: ReadonlySet<string> = new Set(["pods", "services", "configmaps"]);

type Facts = {
  violations: string[];
  uid: string | undefined;
  gone: boolean;
  phase: string;
  /** UIDs of live servers. */
  servers: Set<string>;
  /** Instant at which the newest server started. */
  began: number | undefined;
  /** Instant at which a step read the SparkConnect as it was some revisions ago. */
  behindAt: number;
  /** Instant at which a record first held an order to end everything. */
  orderedAt: number | undefined;
};

const fresh = (): Facts => ({
  ...{ violations: [], uid: undefined, gone: false, phase: "" },
  ...{ servers: new Set(), began: undefined, behindAt: Number.NEGATIVE_INFINITY, orderedAt: undefined },
});

/** A step in which nothing else goes wrong ends within this time, ms. */
const stepMs = 1_000;

/** A write that was planned before an order may arrive within this time. */
const longestArrivalMs = 16_000;

const isServer = (object: unknown): boolean => textAt(object, "metadata", "labels", "spark-role") === "connect-server";

const hasEnded = (object: unknown): boolean =>
  ["Succeeded", "Failed"].includes(textAt(object, "status", "phase") ?? "");

/** The time without tasks after which a SparkConnect is to be deleted, ms; undefined without the annotation. */
const idleMsOf = ({ metadata: { annotations = {} } }: Change["object"]): number | undefined => {
  const [, minutes] = /^(\d+)m$/.exec(annotations["rekindle.dev/delete-when-idle"] ?? "") ?? [];
  return minutes === undefined ? undefined : Number(minutes) * 60_000;
};

type Span = { readonly from: number; readonly until: number };

/** True if a server that started at an instant was started, or ran a task, within the span. */
const wasUsed = (tasks: NonNullable<PodScript["tasks"]>, began: number, { from, until }: Span): boolean =>
  began > from ||
  tasks.some(([sinceMs, shown], index) => {
    const [untilMs = Number.POSITIVE_INFINITY] = tasks[index + 1] ?? [];
    return shown !== "silent" && shown.running > 0 && began + sinceMs < until && began + untilMs > from;
  });

export const openConnectOracle = (subject: Subject, facts: Facts = fresh()): Oracle => {
  const blame = (what: string): void => {
    if (!facts.violations.includes(what)) facts.violations.push(what);
  };
  const isSubject = ({ table, object }: Change): boolean => table === connects && object.metadata.name === subject.name;
  const isOurs = (object: Change["object"]): boolean => facts.uid !== undefined && ownersOf(object).includes(facts.uid);

  const isRecord = ({ table, object }: Change): boolean =>
    table === "checkpoints.rekindle.dev" && object.metadata.name === `sparkconnect.${subject.name}`;

  const hearServer = ({ type, object }: Change, now: number): void => {
    const { uid } = object.metadata;
    if (!isServer(object) || !isOurs(object)) return;
    if (type === "DELETED" || hasEnded(object)) facts.servers.delete(uid);
    else {
      facts.servers.add(uid);
      facts.began = startOf(object) ?? facts.began;
    }
    if (facts.servers.size > 1) blame(`C1: ${facts.servers.size} servers live`);
    if (type === "ADDED" && facts.gone && now - facts.behindAt > stepMs)
      blame("C1: a server comes after its SparkConnect has gone");
    if (type === "ADDED" && facts.orderedAt !== undefined && now - facts.orderedAt > longestArrivalMs)
      blame(`C3: a server comes ${now - facts.orderedAt} ms after everything was ordered to end`);
  };

  /** Judges the deletion of the SparkConnect by a step, which asked up to the longest arrival ago. */
  const checkIdle = (object: Change["object"], now: number): void => {
    const idleMs = idleMsOf(object) ?? Number.POSITIVE_INFINITY;
    const began = facts.began ?? Number.POSITIVE_INFINITY;
    if (wasUsed(subject.tasks ?? [], began, { from: now - idleMs, until: now - longestArrivalMs }))
      blame("C4: the SparkConnect is deleted, and its server was used within the time of its annotation");
  };

  const mayEnd = (object: Change["object"]): boolean => facts.orderedAt !== undefined || hasEnded(object);

  const permitted = (change: Change): boolean => {
    const { type, table, object, before } = change;
    if (table === connects)
      return object.metadata.name === subject.name && (type === "MODIFIED" || idleMsOf(object) !== undefined);
    if (table === "checkpoints.rekindle.dev")
      return isRecord(change) || isDelivery(object, { ...subject, kind: "SparkConnect" });
    if (table === "events") return textAt(object, "involvedObject", "uid") === facts.uid;
    return tables.has(table) && isOurs(before ?? object) && (type !== "DELETED" || mayEnd(before ?? object));
  };

  /** At the end one server runs; nothing is left where the SparkConnect is gone or everything was ordered to end. */
  const checkRest = (objects: readonly { readonly table: string; readonly object: Change["object"] }[]): void => {
    const isOver = facts.gone || facts.orderedAt !== undefined;
    const left = objects.filter(({ table, object }) => isOver && isOurs(object) && (facts.gone || tables.has(table)));
    for (const { table, object } of left) blame(`C2: ${table}/${object.metadata.name} is left`);
    const wanted = isOver ? 0 : 1;
    if (facts.servers.size !== wanted) blame(`C1: ${facts.servers.size} servers live at the end`);
  };

  return {
    hear: (change, actor, now) => {
      if (isSubject(change)) {
        facts.uid = change.object.metadata.uid;
        facts.gone = change.type === "DELETED";
        if (facts.gone && actor === "engine") checkIdle(change.object, now);
        facts.phase = textAt(change.object, "status", "state") ?? "";
      }
      if (isRecord(change) && at(change.object, "spec", "cleanup") !== undefined) facts.orderedAt ??= now;
      if (change.table === "pods") hearServer(change, now);
      if (actor === "engine" && !permitted(change))
        blame(`C2: ${change.type} ${change.table}/${change.object.metadata.name} was not ours to do`);
    },
    permits: permitted,
    said: () => {},
    behind: (path, _, now) => {
      if (path.endsWith(`/sparkconnects/${subject.name}`)) facts.behindAt = now;
    },
    end: checkRest,
    violations: () => facts.violations,
    phase: () => facts.phase,
    uid: () => facts.uid,
    copy: () => openConnectOracle(subject, forked(facts)),
  };
};
