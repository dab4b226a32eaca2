/** Unusable records in the middle of a run: another cluster's, damaged, given up, and an order to end everything. */
import type { Change } from "../../../shared/simulator/storage/store.ts";
import { at } from "./fields.ts";
import { appName, base, executorRuns, namespace, type Scenario, type UserAction } from "./scenario.ts";

/** A user action on the record, and a moment later a change that a host hears of. */
const inTheMiddle = (
  says: string,
  what: UserAction["do"],
  when = executorRuns,
  afterMs = 1_000,
): readonly UserAction[] => [
  { says, when, afterMs, do: what },
  {
    says: "kubectl annotate",
    when,
    afterMs: afterMs + 1_000,
    do: { type: "annotate", annotations: { "example.com/looked": "yes" } },
  },
];

/** The status lists both executors: the run is fully known. */
const executorsTold = ({ table, object }: Change): boolean =>
  table === "sparkapplications.sparkoperator.k8s.io" &&
  Object.values(Object(at(object, "status", "executorState"))).filter((state) => state === "RUNNING").length === 2;

/** The status shows a run of Rekindle's, in any state. */
const isTold = ({ table, object }: Change): boolean =>
  table === "sparkapplications.sparkoperator.k8s.io" && at(object, "status", "submissionID") !== undefined;

const twice = { [appName]: [{ hangs: true }, { jobMs: 2_000 }] };
const damage = { memory: { state: { phase: "NONSENSE" }, history: 7 }, runs: "none", trouble: 1 };

const applications: readonly Scenario[] = [
  {
    name: "another-cluster",
    what: "the cluster is another one: the run under way becomes the next attempt",
    spec: base,
    scripts: twice,
    userActions: inTheMiddle("restored into another cluster", { type: "record", spec: { cluster: "another" } }),
    ends: "COMPLETED",
    breadth: "thin",
  },
  {
    name: "afresh",
    what: "the cluster is another one, and the record of a newer schema: it starts afresh, by what the status tells",
    spec: base,
    scripts: twice,
    // Without a record, and before a first status, the run leaves no trace.
    userActions: inTheMiddle(
      "restored by a newer Rekindle",
      { type: "record", spec: { cluster: "another", schema: 9 } },
      executorsTold,
    ),
    ends: "COMPLETED",
    breadth: "thin",
  },
  {
    name: "damaged",
    what: "its record is damaged while it runs, and what can be read of it is kept",
    spec: base,
    scripts: { [appName]: [{ jobMs: 8_000 }] },
    lenient: true,
    userActions: inTheMiddle("kubectl edit checkpoint", { type: "edit", spec: damage }),
    ends: "COMPLETED",
    breadth: "thin",
  },
  {
    name: "emptied",
    what: "its record is emptied while it runs, and its driver is adopted",
    spec: base,
    scripts: { [appName]: [{ jobMs: 8_000 }] },
    lenient: true,
    userActions: inTheMiddle("somebody empties the memory", {
      type: "edit",
      spec: { memory: { driver: 7, state: 7, spec: 7 } },
    }),
    ends: "COMPLETED",
    breadth: "thin",
  },
  {
    name: "cleanup",
    what: "everything is to be ended, and whoever was told so dies between any two deletions",
    spec: base,
    scripts: { [appName]: [{ hangs: true }] },
    userActions: inTheMiddle("rekindle recover --mode cleanup", { type: "cleanup", graceSeconds: 5 }, executorsTold),
    ends: "FAILED",
    breadth: "thin",
  },
  {
    name: "reconfigured",
    what: "its record was made under a shorter fence: it runs on, and the next write takes the longer one in",
    spec: base,
    scripts: { [appName]: [{ jobMs: 8_000 }] },
    userActions: inTheMiddle("deployed with other settings", {
      type: "record",
      spec: { made: { fenceMs: 5_000, requestTimeoutMs: 5_000 } },
    }),
    ends: "COMPLETED",
    breadth: "sparse",
  },
  {
    name: "older-status",
    what: "an older writer's status comes after ours: it is set right from the record",
    spec: base,
    scripts: { [appName]: [{ jobMs: 8_000 }] },
    userActions: inTheMiddle(
      "counts from before",
      {
        type: "write",
        method: "PATCH",
        path: `/apis/sparkoperator.k8s.io/v1beta2/namespaces/${namespace}/sparkapplications/${appName}/status`,
        body: { status: { driverInfo: {}, submissionAttempts: 7, executionAttempts: 7 } },
      },
      isTold,
    ),
    ends: "COMPLETED",
    breadth: "sparse",
  },
];

const restored = "restored into another cluster";
const elsewhere: UserAction["do"] = { type: "record", spec: { cluster: "another" } };
const edited = "kubectl edit checkpoint";
const ordered = "rekindle recover --mode cleanup";
const minuteMs = 60_000;

const isApplied =
  (table: string) =>
  (change: Change): boolean =>
    change.type === "ADDED" && change.table === table && change.object.metadata.name === appName;
const scheduled = isApplied("scheduledsparkapplications.sparkoperator.k8s.io");

/** Its times are 08:12 and 08:24; the user action on its record happens between them. */
export const schedule = (told: Pick<Scenario, "name" | "what" | "userActions"> & Partial<Scenario>): Scenario => ({
  kind: "ScheduledSparkApplication",
  spec: { schedule: "*/12 * * * *", template: { ...base, executor: { instances: 1 } } },
  scripts: { "*": [{ jobMs: 2_000 }] },
  ends: "Scheduled",
  breadth: "sparse",
  ...told,
});

export const suspended: UserAction = {
  says: "suspend, between the second time and the third",
  when: scheduled,
  afterMs: 30 * minuteMs,
  do: { type: "patch", spec: { suspend: true } },
};

const between = (says: string, what: UserAction["do"]): readonly UserAction[] =>
  inTheMiddle(says, what, scheduled, 14 * minuteMs);

const schedules: readonly Scenario[] = [
  schedule({
    name: "schedule-another-cluster",
    what: "a schedule in another cluster takes no time twice, and its next one as before",
    userActions: [...between(restored, elsewhere), suspended],
  }),
  schedule({
    name: "schedule-damaged",
    what: "a schedule's record is damaged between two times: neither is taken twice, and none is missed",
    lenient: true,
    userActions: [
      ...between(edited, { type: "edit", spec: { memory: { lastRun: 7, nextRun: "x", timing: 7 } } }),
      suspended,
    ],
  }),
  schedule({
    name: "schedule-cleanup",
    what: "everything of a schedule is to be ended: its run goes, and no other comes, whatever time has come",
    scripts: { "*": [{ hangs: true }] },
    userActions: between(ordered, { type: "cleanup", graceSeconds: 5 }),
  }),
];

export const isReady = ({ table, object }: Change): boolean =>
  table === "sparkconnects.sparkoperator.k8s.io" && at(object, "status", "state") === "Ready";

export const connectSpec = {
  sparkVersion: "4.1.1",
  image: "docker.io/apache/spark:4.1.1",
  server: { cores: 1, memory: "512m", template: { spec: { serviceAccount: "spark" } } },
  executor: { instances: 1 },
};

export const connect = (
  told: Pick<Scenario, "name" | "what" | "userActions" | "ends"> & Partial<Scenario>,
): Scenario => ({
  kind: "SparkConnect",
  spec: connectSpec,
  scripts: {},
  breadth: "sparse",
  ...told,
});

const connects: readonly Scenario[] = [
  connect({
    name: "connect-another-cluster",
    what: "the record of a Connect server comes from another cluster: the server that is ready goes on",
    userActions: inTheMiddle(restored, elsewhere, isReady),
    ends: "Ready",
  }),
  connect({
    name: "connect-damaged",
    what: "a Connect server's record is damaged: the server that is ready goes on",
    lenient: true,
    userActions: inTheMiddle(edited, { type: "edit", spec: { memory: { ends: "many" }, trouble: 1 } }, isReady),
    ends: "Ready",
  }),
  connect({
    name: "connect-cleanup",
    what: "everything of a Connect server is to be ended: its server goes, and no other comes",
    userActions: inTheMiddle(ordered, { type: "cleanup", graceSeconds: 5 }, isReady),
    ends: "NotReady",
  }),
];

export const recoveries: readonly Scenario[] = [...applications, ...schedules, ...connects];
