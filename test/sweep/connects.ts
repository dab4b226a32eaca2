/**
 * What must hold of a SparkConnect, judged from objects alone.
 *
 * C1. At most one server lives, none without its SparkConnect, and none but with its account and its command.
 * C2. Nothing is touched but what it owns.
 * C3. Nothing is deleted that has not ended.
 */
import type { Change } from "../../shared/simulator/store.ts";
import { ownersOf, textAt } from "./fields.ts";
import { forked } from "./forked.ts";
import type { Oracle, Subject } from "./oracle.ts";

const connects = "sparkconnects.sparkoperator.k8s.io";
const tables: ReadonlySet<string> = new Set(["pods", "services", "configmaps"]);

type Facts = {
  violations: string[];
  uid: string | undefined;
  gone: boolean;
  phase: string;
  /** UIDs of servers that live. */
  servers: Set<string>;
};

const fresh = (): Facts => ({ violations: [], uid: undefined, gone: false, phase: "", servers: new Set() });

const isServer = (object: unknown): boolean => textAt(object, "metadata", "labels", "spark-role") === "connect-server";

const hasEnded = (object: unknown): boolean =>
  ["Succeeded", "Failed"].includes(textAt(object, "status", "phase") ?? "");

export const openConnectOracle = (subject: Subject, facts: Facts = fresh()): Oracle => {
  const blame = (what: string): void => {
    if (!facts.violations.includes(what)) facts.violations.push(what);
  };
  const isSubject = ({ table, object }: Change): boolean => table === connects && object.metadata.name === subject.name;
  const isOurs = (object: Change["object"]): boolean => facts.uid !== undefined && ownersOf(object).includes(facts.uid);

  const hearServer = ({ type, object }: Change): void => {
    const { uid } = object.metadata;
    if (!isServer(object) || !isOurs(object)) return;
    if (type === "DELETED" || hasEnded(object)) facts.servers.delete(uid);
    else facts.servers.add(uid);
    if (facts.servers.size > 1) blame(`C1: ${facts.servers.size} servers live`);
    if (type === "ADDED" && facts.gone) blame("C1: a server comes after its SparkConnect has gone");
  };

  const permitted = ({ type, table, object, before }: Change): boolean => {
    if (table === connects) return object.metadata.name === subject.name && type === "MODIFIED";
    if (table === "checkpoints.rekindle.dev") return object.metadata.name === `sparkconnect.${subject.name}`;
    if (table === "events") return textAt(object, "involvedObject", "uid") === facts.uid;
    return tables.has(table) && isOurs(before ?? object) && (type !== "DELETED" || hasEnded(before ?? object));
  };

  return {
    hear: (change, actor) => {
      if (isSubject(change)) {
        facts.uid = change.object.metadata.uid;
        facts.gone = change.type === "DELETED";
        facts.phase = textAt(change.object, "status", "state") ?? "";
      }
      if (change.table === "pods") hearServer(change);
      if (actor === "engine" && !permitted(change))
        blame(`C2: ${change.type} ${change.table}/${change.object.metadata.name} was not ours to do`);
    },
    permits: permitted,
    said: () => {},
    end: (objects) => {
      const left = objects.filter(({ object }) => facts.gone && isOurs(object));
      for (const { table, object } of left) blame(`C2: ${table}/${object.metadata.name} is left`);
      if (!facts.gone && facts.servers.size !== 1) blame(`C1: ${facts.servers.size} servers live at the end`);
    },
    violations: () => facts.violations,
    phase: () => facts.phase,
    uid: () => facts.uid,
    copy: () => openConnectOracle(subject, forked(facts)),
  };
};
