/**
 * The invariants of a SparkConnect, judged from objects alone.
 *
 * C1. At most one server runs; none without its SparkConnect, its account and its command.
 * C2. Steps write only the objects that the SparkConnect owns.
 * C3. Steps delete only ended objects, unless everything is ordered to end: then nothing is left, and no server comes.
 */
import type { Change } from "../../../shared/simulator/storage/store.ts";
import { at, ownersOf, textAt } from "./fields.ts";
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
  /** Instant at which a record first held an order to end everything. */
  orderedAt: number | undefined;
};

const fresh = (): Facts => ({
  ...{ violations: [], uid: undefined, gone: false, phase: "" },
  ...{ servers: new Set(), orderedAt: undefined },
});

/** A write that was planned before an order may arrive within this time. */
const longestArrivalMs = 16_000;

const isServer = (object: unknown): boolean => textAt(object, "metadata", "labels", "spark-role") === "connect-server";

const hasEnded = (object: unknown): boolean =>
  ["Succeeded", "Failed"].includes(textAt(object, "status", "phase") ?? "");

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
    else facts.servers.add(uid);
    if (facts.servers.size > 1) blame(`C1: ${facts.servers.size} servers live`);
    if (type === "ADDED" && facts.gone) blame("C1: a server comes after its SparkConnect has gone");
    if (type === "ADDED" && facts.orderedAt !== undefined && now - facts.orderedAt > longestArrivalMs)
      blame(`C3: a server comes ${now - facts.orderedAt} ms after everything was ordered to end`);
  };

  const mayEnd = (object: Change["object"]): boolean => facts.orderedAt !== undefined || hasEnded(object);

  const permitted = (change: Change): boolean => {
    const { type, table, object, before } = change;
    if (table === connects) return object.metadata.name === subject.name && type === "MODIFIED";
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
        facts.phase = textAt(change.object, "status", "state") ?? "";
      }
      if (isRecord(change) && at(change.object, "spec", "cleanup") !== undefined) facts.orderedAt ??= now;
      if (change.table === "pods") hearServer(change, now);
      if (actor === "engine" && !permitted(change))
        blame(`C2: ${change.type} ${change.table}/${change.object.metadata.name} was not ours to do`);
    },
    permits: permitted,
    said: () => {},
    end: checkRest,
    violations: () => facts.violations,
    phase: () => facts.phase,
    uid: () => facts.uid,
    copy: () => openConnectOracle(subject, forked(facts)),
  };
};
