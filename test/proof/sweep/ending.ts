/**
 * The ending of a run: every object of the relevant namespaces, as text, without values that differ from run to run.
 * `forgotten` names all that is left out, each with its reason.
 */

import * as crypto from "node:crypto";
import type { Change, Store } from "../../../shared/simulator/storage/store.ts";
import { derived, gone, type Identities, nameless, ofRun, plain, unnumbered } from "./drawn.ts";
import { at, textAt } from "./fields.ts";

type Item = Change["object"];

/** id of an object → its text. */
export type Ending = ReadonlyMap<string, string>;

/** The differences between two runs with the same outcome, each with its reason. */
export const forgotten: Readonly<Record<string, string>> = {
  "metadata.resourceVersion": "counts the writes of the whole cluster",
  "metadata.uid and references to it": "drawn by the server; replaced by table and name",
  "timestamps, epoch milliseconds": "a fault costs time; that they are there and in order is checked",
  "a checkpoint's spec.saves and metadata.generation": "counts how often was saved, one more for every try",
  "a checkpoint's spec.recovered.was": "holds the record that was given up, with what differs in it",
  "a checkpoint's annotation rekindle.dev/seal": "a digest of all that, with what differs in it",
  "a checkpoint's spec.memory.history, .histories, .untold and .conditions, a job's status.conditions, the histories in the status of a JobFlow and of Apache's kinds":
    "a late step finds a phase passed; that every phase which was saved is told shows in the events",
  "a checkpoint's spec.outbox, spec.acknowledged and annotation rekindle.dev/updates, how far its memory says a stream came":
    "a late step finds a state passed, and tells one less; that what was saved is told, and acknowledged, is judged by L1–L8",
  "a checkpoint's spec.untimed":
    "that a plan wants no timer any more is written with the next save, and a fault causes one save more or less; a timer that is wanted and ends early shows in the end of the run, or in its time",
  "the suffix of a pod's kube-api-access volume": "drawn by the server",
  "ids and hashes of a schedule's run":
    "derived from its UID, which is drawn later when a fault costs draws; each run is judged by the invariants",
  "the numbers of executors that Rekindle made, but for their order; a checkpoint's spec.memory.allotment":
    "a fault costs ids, for none is used twice: that none is shows in the names",
  "the nodes of executors that Rekindle made, also where the next one is to be placed elsewhere":
    "the scheduler places them in the order of their creations, and a fault holds one up or refuses it; that a loss is recorded with the node where its pod stood is judged by E3, and who is to be elsewhere than where by E6",
  "a checkpoint's spec.memory.executors.marks, .untold and .ends":
    "parts of pods' UIDs, which the server draws; what a next step tells again, if there is one; and ends that the status may not show yet: what it shows is compared",
  "a checkpoint's spec.memory.executors.lifetimes and .ran, and spec.runs.account":
    "times of pods, which a fault moves, and of those alone that a step saw; no decision reads them",
  "a checkpoint's spec.timeline and spec.specs":
    "times, waits that a fault adds, and specs that a late step never sees; no decision reads them, and W1 judges the waits of every save",
  "a checkpoint's spec.memory.held":
    "a fault makes a pod wait longer than its grace, or less long: the warnings that were told are compared",
  "the name of the event PodNotStarting of a SparkConnect":
    "derived from the server's UID, which is drawn later when a fault costs draws; what it says is compared",
  "UIDs of commands in a job's record": "their names are drawn by the server",
  "the order of a job's tasks whose end was an event": "their pods end at one time, and who comes late sees both",
  "a job's status.runningDuration, also where a JobFlow shows it, the time for which its Workload was admitted, and the names of events of Volcano's kinds and of RekindleCleanedUp":
    "a fault costs time; all are made of it",
  "the pods whose quota a finished Workload has given back before":
    "a late step sees the job's end with them; while quota is held they are judged by A4",
  "which digest a job's record has of what its pods share, and which keys were drawn":
    "made of the UID, which is drawn later when a fault costs draws; that keys stay is judged by the invariants",
  "in the records of Apache's kinds the digests of their status, the UID of a driver, and when executors of Rekindle's were first seen":
    "the status holds times and histories; a late step sees the driver ended, and finds its executors by their label",
  "Events of states of Apache's kinds":
    "a late step finds states passed; that each tells of a recorded state is judged by D7 and K5, and that each is told by the tests of whole lives",
  "pod IPs and container ids": "the simulator draws them from the pod's UID",
};

export const identityOf = (table: string, object: Item): string => `<uid of ${table}/${object.metadata.name}>`;

/** Names made of half a UID: Spark's executors and their config map. */
const partsOf = (identities: Identities): readonly (readonly [string, string])[] =>
  [...identities]
    .filter(([, name]) => name.startsWith("<uid of pods/"))
    .flatMap(([uid, name]): (readonly [string, string])[] => {
      const hex = uid.replaceAll("-", "");
      return [
        [hex.slice(0, 16), name],
        [hex.slice(16), name],
      ];
    });

const progress = "metadata.annotations.rekindle.dev/updates";
const seal = "metadata.annotations.rekindle.dev/seal";

/** Names of executors with ids from 1001 on, by their order: those that exist, and those in a status. */
const ownIn = (store: Store): readonly (readonly [string, string])[] => {
  const told = store
    .list("sparkapplications.sparkoperator.k8s.io")
    .flatMap((object) => Object.keys(Object(at(object, "status", "executorState"))));
  const names = new Set([...store.list("pods").map(({ metadata }) => metadata.name), ...told]);
  const own = [...names].flatMap((name) => {
    const [, start, id] = /^(.*-exec-)(1\d{3})$/.exec(name) ?? [];
    return start === undefined ? [] : [{ start, id: Number(id), name }];
  });
  return own
    .toSorted((a, b) => a.id - b.id)
    .map(({ start, name }, index) => [name, `${start}own-${index + 1}`] as const);
};

const isOwn = ({ kind, metadata }: Item): boolean => kind === "Pod" && /-exec-1\d{3}$/.test(metadata.name);

/** The histories in a status of Apache's kinds. */
const histories = ["stateTransitionHistory", "previousAttemptSummary.stateTransitionHistory"];

/** Ignored fields, by kind. */
const counters: Readonly<Record<string, ReadonlySet<string>>> = {
  SparkApplication: new Set(histories.map((path) => `status.${path}`)),
  SparkCluster: new Set(histories.map((path) => `status.${path}`)),
  Job: new Set(["status.runningDuration", "status.conditions"]),
  Workload: new Set(["status.accumulatedPastExecutionTimeSeconds", "status.reclaimablePods"]),
  JobFlow: new Set(["status.jobStatusList.*.runningHistories", "status.conditions.*.runningDuration"]),
  Checkpoint: new Set([
    "spec.saves",
    "spec.recovered.was",
    "spec.memory.executors.marks",
    "spec.memory.executors.untold",
    "spec.memory.executors.ends",
    ...["spec.memory.executors.lifetimes", "spec.memory.executors.ran", "spec.runs.*.account"],
    "metadata.generation",
    "spec.memory.history",
    "spec.memory.histories",
    "spec.memory.conditions",
    "spec.memory.commands",
    "spec.memory.untold",
    "spec.memory.held",
    "spec.memory.allotment",
    ...histories.map((path) => `spec.memory.status.${path}`),
    ...["spec.untimed", "spec.timeline", "spec.specs"],
    ...["spec.outbox", "spec.acknowledged", "spec.memory.stream", "spec.memory.acknowledged", progress],
    seal,
  ]),
};
/** Of a record of Apache's kinds also the digests of its status, which holds times, and the driver that was seen alive. */
const ofApache: ReadonlySet<string> = new Set([
  ...(counters["Checkpoint"] ?? []),
  ...["spec.status.answered", "spec.status.wished", "spec.memory.run.driverUid", "spec.memory.run.executorsAt"],
]);

const droppedOf = (object: Item): ReadonlySet<string> | undefined => {
  const isRecordOfApache =
    object.kind === "Checkpoint" && /^(?:apachesparkapplication|sparkcluster)\./.test(object.metadata.name);
  return isRecordOfApache ? ofApache : counters[object.kind];
};

const place: ReadonlySet<string> = new Set(["spec.nodeName"]);
/** Fields that no decision reads. */
const unread: ReadonlySet<string> = new Set([
  ...["spec.saves", "spec.timeline", "spec.specs", "spec.memory.history", "metadata.generation", seal],
  ...["spec.memory.executors.lifetimes", "spec.memory.executors.ran", "spec.runs.*.account"],
]);

/** True for an Event of a state in the history of one of Apache's kinds: a late step finds states passed. */
const isOfHistory = (event: Item): boolean =>
  (textAt(event, "involvedObject", "apiVersion") ?? "").startsWith("spark.apache.org/") &&
  apacheStates.has(textAt(event, "reason") ?? "");

/** True for events with names that differ from run to run: of Volcano's kinds, of an order, of a Connect start, of a grant. */
const isNamedAfterTime = (event: Item): boolean =>
  ["RekindleCleanedUp", "GrowthGranted", "GrowthEnded"].includes(String(event["reason"])) ||
  (event["reason"] === "PodNotStarting" && textAt(event, "involvedObject", "kind") === "SparkConnect") ||
  ["Job", "JobFlow", "CronJob", "Queue", "PodGroup"].includes(textAt(event, "involvedObject", "kind") ?? "");

/** Lists of a record that are sets: tasks whose completion, or exhaustion, was an event. */
const sets: ReadonlySet<string> = new Set(["spec.memory.completed.", "spec.memory.exhausted."]);

const version = "resourceVersion";

/** The value with ordered keys and without resourceVersion. */
const plainly = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(plainly);
  if (typeof value !== "object" || value === null) return value;
  const fields = value as Readonly<Record<string, unknown>>;
  const ordered: Record<string, unknown> = {};
  for (const name of Object.keys(fields).sort()) if (name !== version) ordered[name] = plainly(fields[name]);
  return ordered;
};

/** The same without dropped fields. In a path a star is an item of a list, or any name. */
const without = (value: unknown, dropped: ReadonlySet<string>, path = ""): unknown => {
  if (Array.isArray(value)) {
    const items = value.map((item) => without(item, dropped, `${path}*.`));
    return sets.has(path) ? items.sort() : items;
  }
  if (typeof value !== "object" || value === null) return value;
  const starred = path.replace(/[^.]+\.$/, "*.");
  const isKept = ([name]: readonly [string, unknown]): boolean =>
    name !== version && !dropped.has(`${path}${name}`) && !dropped.has(`${starred}${name}`);
  const entries = Object.entries(value)
    .filter(isKept)
    .map(([name, item]): [string, unknown] => [name, without(item, dropped, `${path}${name}.`)]);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
};

const canonical = (value: unknown, dropped: ReadonlySet<string> | undefined): unknown =>
  dropped === undefined ? plainly(value) : without(value, dropped);

/** The conditions of a Workload by their types, so that one more or less moves no other one. */
const byType = (object: Item): Item => {
  const conditions = at(object, "status", "conditions");
  if (object.kind !== "Workload" || !Array.isArray(conditions)) return object;
  const named = Object.fromEntries(conditions.map((condition) => [String(at(condition, "type")), condition]));
  return { ...object, status: { ...Object(at(object, "status")), conditions: named } };
};

/** The states of Apache's kinds. */
const apacheStates: ReadonlySet<string> = new Set([
  ...["Submitted", "ScheduledToRestart", "DriverRequested", "DriverStarted", "DriverReady", "Succeeded", "Failed"],
  ...["InitializedBelowThresholdExecutors", "RunningHealthy", "RunningWithPartialCapacity", "DriverEvicted"],
  ...["RunningWithBelowThresholdExecutors", "DriverStartTimedOut", "ExecutorsStartTimedOut", "DriverReadyTimedOut"],
  ...["SchedulingFailure", "ResourceReleased", "TerminatedWithoutReleaseResources"],
]);

const standing = new Set(["namespaces", "nodes", "customresourcedefinitions.apiextensions.k8s.io"]);

export const everything = (store: Store): readonly { readonly table: string; readonly object: Item }[] =>
  store
    .tables()
    .filter((table) => !standing.has(table))
    .flatMap((table) => store.list(table).map((object) => ({ table, object })));

/** An object is immutable, and shared by the forks that did not change it. */
const texts = new WeakMap<Item, readonly [id: string, text: string]>();

export const endingOf = (store: Store, identities: Identities): Ending => {
  const parts = [...ownIn(store), ...partsOf(identities)];
  const textOf = (table: string, object: Item): readonly [id: string, text: string] => {
    const { namespace = "", name } = object.metadata;
    const id = plain(`${table}/${namespace}/${name}`, identities, parts);
    const dropped = isOwn(object) ? place : droppedOf(object);
    const whole = nameless(unnumbered(JSON.stringify(canonical(byType(object), dropped)), name));
    const text = gone(plain(whole, identities, parts));
    if (table === "events" && (text.includes("-exec-own-") || isNamedAfterTime(object)))
      return [
        `${table}/${namespace}/${plain(textAt(object, "involvedObject", "name") ?? "", identities, parts)}: ${gone(plain(nameless(String(object["message"])), identities, parts))}`,
        text.replaceAll(plain(name, identities, parts), "<event>").replaceAll(name, "<event>"),
      ];
    if (!ofRun.test(text)) return [id, text];
    return [`${derived(id)}${table === "events" ? ` ${String(object["reason"])}` : ""}`, derived(text)];
  };
  const compared = everything(store).filter(({ table, object }) => table !== "events" || !isOfHistory(object));
  const entries = compared.map(({ table, object }) => {
    const entry = texts.get(object) ?? textOf(table, object);
    texts.set(object, entry);
    return entry;
  });
  const sorted = entries.toSorted(([a, x], [b, y]) => (a === b ? (x < y ? -1 : 1) : a < b ? -1 : 1));
  const met = new Map<string, number>();
  const named = sorted.map(([id, text]): [string, string] => {
    const nth = (met.get(id) ?? 0) + 1;
    met.set(id, nth);
    return [nth === 1 ? id : `${id} #${nth}`, text];
  });
  return new Map(named);
};

/** A digest of everything that steps read, without times, drawn names and counts of saves. */
export const gistOf = (store: Store, identities: Identities, ending: Ending): string => {
  const parts = partsOf(identities);
  const records = store
    .list("checkpoints.rekindle.dev")
    .map((record) => plain(JSON.stringify(canonical(record, unread)), identities, parts));
  const rest = [...ending].filter(([id]) => !id.startsWith("events/"));
  return crypto.hash("sha1", JSON.stringify([rest, records]));
};

const pathsOf = (value: unknown, path: string, into: Map<string, string>): void => {
  if (typeof value !== "object" || value === null) {
    into.set(path, JSON.stringify(value) ?? "");
    return;
  }
  for (const [key, item] of Object.entries(value)) pathsOf(item, `${path}.${key}`, into);
};

const flat = (text: string): ReadonlyMap<string, string> => {
  const paths = new Map<string, string>();
  pathsOf(JSON.parse(text), "", paths);
  return paths;
};

/** One field, or a whole object, that differs from the expected ending. */
export type Difference = { readonly id: string; readonly path: string; readonly want: string; readonly got: string };

const differencesIn = (id: string, want: string, got: string): readonly Difference[] => {
  const [a, b] = [flat(want), flat(got)];
  return [...new Set([...a.keys(), ...b.keys()])]
    .filter((path) => a.get(path) !== b.get(path))
    .map((path) => ({ id, path, want: a.get(path) ?? "absent", got: b.get(path) ?? "absent" }));
};

/** The differences of two endings, field by field. */
export const differences = (want: Ending, got: Ending): readonly Difference[] =>
  [...new Set([...want.keys(), ...got.keys()])].sort().flatMap((id): readonly Difference[] => {
    const [a, b] = [want.get(id), got.get(id)];
    if (a === b) return [];
    if (a === undefined) return [{ id, path: "", want: "absent", got: b ?? "" }];
    if (b === undefined) return [{ id, path: "", want: a, got: "absent" }];
    return differencesIn(id, a, b);
  });
