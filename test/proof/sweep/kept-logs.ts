/**
 * Ends of drivers' logs are kept before their pods are deleted (`keepDriverLogs`): the scenarios, and the invariants,
 * judged from objects alone.
 *
 * K1. When a step deletes a driver's pod whose container has started, its log is kept, or an Event says why not; of an
 *     application that its user has deleted none is kept.
 * K2. At most three logs are kept, of different pods, each of at most 64 KiB, and each is the end of its driver's log.
 * K3. Logs outlive the record of their application only if its time to live was over.
 */
import { gunzipSync } from "node:zlib";
import type { Change } from "../../../shared/simulator/storage/store.ts";
import { at, ownersOf, roleOf, textAt } from "./fields.ts";
import { forked } from "./forked.ts";
import { isLogs } from "./objects.ts";
import type { Actor, Oracle } from "./oracle.ts";
import { appName, base, driverRuns, namespace, type Scenario, stateIs } from "./scenario.ts";

/** The log of the nth driver: longer than what is kept, in lines of a hundred characters. */
const logOf = (nth: number): string =>
  Array.from({ length: 900 }, (_, line) => `driver ${nth} line ${line} ${"x".repeat(80)}`).join("\n");

const lastLine = /driver (\d) line 899 x{80}\n$/;

type Log = { readonly uid: string; readonly text: string };

type Facts = {
  violations: string[];
  logs: readonly Log[];
  /** Texts of Events that no log was kept. */
  told: string[];
  /** UIDs of drivers' pods whose container has started. */
  started: Set<string>;
  deleted: Set<string>;
  /** UIDs of applications that are deleted. */
  gone: Set<string>;
};

const fresh = (): Facts => ({
  violations: [],
  logs: [],
  told: [],
  started: new Set(),
  deleted: new Set(),
  gone: new Set(),
});

const mostBytes = 65_536;
const mostLogs = 3;

const logsIn = (record: Change["object"]): readonly Log[] => {
  const logs = at(record, "spec", "memory", "logs");
  if (!Array.isArray(logs)) return [];
  return logs.map((log) => ({
    uid: textAt(log, "uid") ?? "",
    text: gunzipSync(Buffer.from(textAt(log, "text") ?? "", "base64")).toString(),
  }));
};

const hasStarted = (pod: Change["object"]): boolean => {
  const statuses = at(pod, "status", "containerStatuses");
  const [state] = Array.isArray(statuses) ? [at(statuses[0], "state")] : [];
  return at(state, "running") !== undefined || at(state, "terminated") !== undefined;
};

/** Adds K1–K3 to an oracle of applications. */
export const withKeptLogs = (inner: Oracle, facts: Facts = fresh()): Oracle => {
  const blame = (what: string): void => {
    if (!facts.violations.includes(what)) facts.violations.push(what);
  };
  const isOutliving = (record: Change["object"]): boolean => at(record, "spec", "rests") === true;
  const hearLogs = ({ type, object }: Change): void => {
    facts.logs = type === "DELETED" ? [] : logsIn(object);
    if (facts.logs.length > mostLogs) blame(`K2: ${facts.logs.length} logs are kept`);
    if (new Set(facts.logs.map(({ uid }) => uid)).size < facts.logs.length) blame("K2: a log is kept twice");
    for (const { text } of facts.logs) {
      const bytes = Buffer.byteLength(text);
      if (bytes > mostBytes) blame(`K2: a log of ${bytes} bytes is kept`);
      if (!lastLine.test(text)) blame(`K2: ${JSON.stringify(text.slice(-40))} is no end of a log`);
    }
  };
  /** True of the first change that shows the pod as deleted. */
  const isDeletion = ({ type, object }: Change): boolean =>
    (type === "DELETED" || object.metadata.deletionTimestamp !== undefined) && !facts.deleted.has(object.metadata.uid);
  const hearDriver = (change: Change, actor: Actor): void => {
    const { uid, name } = change.object.metadata;
    if (hasStarted(change.object)) facts.started.add(uid);
    if (!isDeletion(change)) return;
    facts.deleted.add(uid);
    const isKept =
      facts.logs.some((log) => log.uid === uid) || facts.told.some((text) => text.includes(`pod ${name} `));
    const isLeft = ownersOf(change.object).some((owner) => facts.gone.has(owner));
    if (actor === "engine" && facts.started.has(uid) && !isKept && !isLeft)
      blame(`K1: ${name} is deleted, and its log is not kept`);
  };
  return {
    ...inner,
    hear: (change, actor, now) => {
      const { table, object } = change;
      if (table === "checkpoints.rekindle.dev" && isLogs(object, { namespace, name: appName })) hearLogs(change);
      if (table === "events" && object["reason"] === "DriverLogNotKept") facts.told.push(String(object["message"]));
      const isGone = change.type === "DELETED" || object.metadata.deletionTimestamp !== undefined;
      if (table.startsWith("sparkapplications.") && isGone) facts.gone.add(object.metadata.uid);
      if (table === "pods" && roleOf(object) === "driver") hearDriver(change, actor);
      inner.hear(change, actor, now);
    },
    end: (objects, now) => {
      inner.end(objects, now);
      const names = objects.filter(({ table }) => table === "checkpoints.rekindle.dev");
      const logs = names.find(({ object }) => isLogs(object, { namespace, name: appName }));
      const hasRecord = names.some(({ object }) => object.metadata.name === `sparkapplication.${appName}`);
      if (logs !== undefined && !hasRecord && !isOutliving(logs.object)) blame("K3: logs are left without a record");
    },
    violations: () => [...facts.violations, ...inner.violations()],
    copy: () => withKeptLogs(inner.copy(), forked(facts)),
  };
};

const failing = (...numbers: readonly number[]) =>
  numbers.map((nth) => ({ jobMs: 1_000, exitCode: 1, log: logOf(nth) }));

const retrying = { type: "OnFailure", onFailureRetries: 4, onFailureRetryInterval: 3 };

const common = { keepsLogs: true, breadth: "thin" } as const;

export const keptLogs: readonly Scenario[] = [
  {
    ...common,
    breadth: "sparse",
    also: ["404", "404-named"],
    name: "kept-logs",
    what: "four drivers fail, and the fifth completes: the logs of the last three that were deleted are kept",
    spec: { ...base, restartPolicy: retrying },
    scripts: { [appName]: [...failing(1, 2, 3, 4), { jobMs: 2_000, log: logOf(5) }] },
    userActions: [],
    ends: "COMPLETED",
  },
  {
    ...common,
    name: "kept-logs-deletion",
    what: "its user deletes it after a retry: the log goes with it",
    spec: { ...base, restartPolicy: retrying },
    scripts: { [appName]: [...failing(1), { jobMs: 60_000, log: logOf(2) }] },
    userActions: [{ says: "kubectl delete", when: driverRuns, afterMs: 20_000, do: { type: "delete" } }],
    ends: "gone",
  },
  {
    ...common,
    name: "kept-logs-suspension",
    what: "its user suspends it while its driver runs, and resumes it",
    spec: base,
    scripts: {
      [appName]: [
        { jobMs: 60_000, log: logOf(1) },
        { jobMs: 2_000, log: logOf(2) },
      ],
    },
    userActions: [
      { says: "suspended", when: driverRuns, afterMs: 2_000, do: { type: "patch", spec: { suspend: true } } },
      { says: "resumed", when: stateIs("SUSPENDED"), afterMs: 5_000, do: { type: "patch", spec: { suspend: false } } },
    ],
    ends: "COMPLETED",
  },
  {
    ...common,
    name: "kept-logs-expiry",
    what: "its time to live is over: its log outlives it",
    spec: { ...base, timeToLiveSeconds: 30 },
    scripts: { [appName]: [{ jobMs: 2_000, log: logOf(1) }] },
    userActions: [],
    ends: "gone",
  },
];
