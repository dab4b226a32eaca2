/** The scenarios of the Spark family. Bugs of upstream's are in `upstream.ts`, other courses in `lives.ts`. */
import type { Change } from "../../../shared/simulator/storage/store.ts";
import { clusters } from "./apache/cluster-scenarios.ts";
import { gangsOfApache } from "./apache/gangs.ts";
import { owned as ownedOfApache } from "./apache/own-executors.ts";
import { queued as queuedOfApache } from "./apache/queued.ts";
import { apache as applicationsOfApache } from "./apache/scenarios.ts";
import { belledOf } from "./belled.ts";
import { beside, besideOfVolcano } from "./beside.ts";
import { dispatchedApplications, dispatchedJobs, dispatchedOf } from "./dispatched-scenarios.ts";
import { elastic } from "./elastic.ts";
import { executorLosses } from "./executor-losses.ts";
import { textAt } from "./fields.ts";
import { gangApplications } from "./gang-applications.ts";
import { growths } from "./growths.ts";
import { hostedOf } from "./hosted.ts";
import { keptLogs } from "./kept-logs.ts";
import { lives } from "./lives.ts";
import { memoryGrowth } from "./memory-growth.ts";
import { owned } from "./owned.ts";
import { recoveries } from "./recoveries.ts";
import { scaling } from "./scaling.ts";
import { appName, base, bothRun, driverRuns, executorRuns, type Scenario, stateIs } from "./scenario.ts";
import { strands } from "./strands.ts";
import { tellings } from "./tellings.ts";
import { upstreamBugs } from "./upstream.ts";
import { crons } from "./volcano/cron/scenarios.ts";
import { evictions } from "./volcano/evictions.ts";
import { flows } from "./volcano/flow/scenarios.ts";
import { gangs } from "./volcano/gangs.ts";
import { kueuedJobs } from "./volcano/kueued.ts";
import { natives } from "./volcano/natives.ts";
import { nears } from "./volcano/near.ts";
import { queueing } from "./volcano/queue/scenarios.ts";
import { recoveries as ofVolcano } from "./volcano/recoveries.ts";
import { rooms } from "./volcano/rooms.ts";
import { volcano as jobs } from "./volcano/scenarios.ts";
import { tellings as toldOfVolcano } from "./volcano/tellings.ts";

/** The name of a schedule's run this many minutes after eight, when the simulator's time begins. */
const runAt = (minute: number): string => `${appName}-${Date.UTC(2026, 10, 2, 8, minute) / 1_000}000000000`;

const isApplied =
  (plural: string) =>
  ({ type, table, object }: Change): boolean =>
    type === "ADDED" && table === `${plural}.sparkoperator.k8s.io` && object.metadata.name === appName;

const isReady = ({ table, object }: Change): boolean =>
  table === "sparkconnects.sparkoperator.k8s.io" && textAt(object, "status", "state") === "Ready";

const first: readonly Scenario[] = [
  {
    name: "completion",
    upstream: "U2, U11 kubeflow#446, #440",
    what: "runs to completion",
    spec: base,
    scripts: { [appName]: [{ jobMs: 4_000 }] },
    userActions: [],
    ends: "COMPLETED",
    breadth: "whole",
  },
  {
    name: "retry",
    upstream: "U4 kubeflow#155",
    what: "the first driver fails, OnFailure brings a second that completes",
    spec: { ...base, restartPolicy: { type: "OnFailure", onFailureRetries: 2, onFailureRetryInterval: 3 } },
    scripts: { [appName]: [{ jobMs: 1_000, exitCode: 1 }, { jobMs: 2_000 }] },
    userActions: [],
    ends: "COMPLETED",
    breadth: "whole",
    drawn: true,
  },
  {
    name: "driver-drained",
    what: "a user deletes the driver's pod, whose process ends with 0: its run has not completed, and OnFailure brings another, which fails",
    spec: { ...base, restartPolicy: { type: "OnFailure", onFailureRetries: 1, onFailureRetryInterval: 3 } },
    scripts: {
      [appName]: [
        { hangs: true, stopCode: 0, stopMs: 2_000 },
        { jobMs: 2_000, exitCode: 1 },
      ],
    },
    userActions: [
      {
        says: "kubectl delete pod",
        when: bothRun,
        afterMs: 1_000,
        do: { type: "remove", pod: `${appName}-driver` },
      },
    ],
    ends: "FAILED",
    breadth: "sparse",
  },
  {
    name: "deletion",
    what: "deleted while it runs",
    spec: base,
    scripts: { [appName]: [{ hangs: true }] },
    userActions: [{ says: "kubectl delete", when: executorRuns, afterMs: 1_500, do: { type: "delete" } }],
    ends: "gone",
    breadth: "whole",
  },
  {
    name: "change",
    what: "its spec changes while it runs",
    spec: base,
    scripts: { [appName]: [{ hangs: true }, { jobMs: 2_000 }] },
    userActions: [
      {
        says: "kubectl patch: other arguments",
        when: executorRuns,
        afterMs: 1_500,
        do: { type: "patch", spec: { arguments: ["2000"] } },
      },
    ],
    ends: "COMPLETED",
    breadth: "part",
  },
  {
    name: "suspension",
    what: "suspended while it runs, resumed later",
    spec: base,
    scripts: { [appName]: [{ hangs: true }, { jobMs: 2_000 }] },
    userActions: [
      { says: "suspend", when: driverRuns, afterMs: 1_000, do: { type: "patch", spec: { suspend: true } } },
      { says: "resume", when: stateIs("SUSPENDED"), afterMs: 20_000, do: { type: "patch", spec: { suspend: false } } },
    ],
    ends: "COMPLETED",
    breadth: "part",
  },
  {
    name: "refusal",
    upstream: "U10 kubeflow#3174, #787",
    what: "the server refuses its driver, then the spec is mended",
    spec: { ...base, driver: { ...base.driver, labels: { team: "not a label value!" } } },
    scripts: { [appName]: [{ jobMs: 2_000 }] },
    userActions: [
      {
        says: "kubectl patch: a valid label",
        when: stateIs("FAILED"),
        afterMs: 5_000,
        do: { type: "patch", spec: { driver: { labels: { team: "data" } } } },
      },
    ],
    ends: "COMPLETED",
    breadth: "thin",
  },
  {
    name: "loss",
    upstream: "U16 kubeflow#204",
    what: "an executor is killed while it runs, and Spark replaces it",
    spec: base,
    scripts: { [appName]: [{ jobMs: 8_000 }] },
    userActions: [
      {
        says: "an executor dies",
        when: executorRuns,
        afterMs: 1_500,
        do: { type: "kill", pod: /-exec-1$/, code: 137 },
      },
    ],
    ends: "COMPLETED",
    breadth: "part",
  },
  {
    name: "companions",
    what: "a budget, a further port and its ingress go with two runs: the first fails, the second completes",
    spec: {
      ...base,
      driverPodDisruptionBudget: true,
      driverIngressOptions: [{ servicePort: 9_999, servicePortName: "api", ingressURLFormat: "{{$appName}}.x.org" }],
      restartPolicy: { type: "OnFailure", onFailureRetries: 1, onFailureRetryInterval: 3 },
    },
    scripts: { [appName]: [{ jobMs: 1_000, exitCode: 1 }, { jobMs: 2_000 }] },
    userActions: [],
    ends: "COMPLETED",
    breadth: "thin",
  },
  {
    name: "lateness",
    what: "an image cannot be pulled in time: the driver is given up, which spends no retry, and the next one completes",
    spec: base,
    annotations: { "rekindle.dev/driver-start-timeout": "30s", "rekindle.dev/restart-on": "infrastructure" },
    scripts: { [appName]: [{ pull: "fails" }, { jobMs: 2_000 }] },
    userActions: [],
    ends: "COMPLETED",
    breadth: "thin",
  },
  {
    name: "stranger",
    what: "somebody else's pod has the driver's name; then it is removed and the spec changed",
    spec: base,
    scripts: { [appName]: [{ jobMs: 2_000 }] },
    strangers: [`${appName}-driver`],
    userActions: [
      {
        says: "the pod in the way is deleted",
        when: stateIs("FAILED"),
        afterMs: 1_000,
        do: { type: "remove", pod: `${appName}-driver` },
      },
      {
        says: "kubectl patch: other arguments",
        when: stateIs("FAILED"),
        afterMs: 3_000,
        do: { type: "patch", spec: { arguments: ["2000"] } },
      },
    ],
    ends: "COMPLETED",
    breadth: "thin",
  },
  {
    name: "schedule",
    what: "a schedule's time comes, and comes again, and then it is suspended",
    kind: "ScheduledSparkApplication",
    spec: { schedule: "*/12 * * * *", template: base },
    scripts: {},
    userActions: [
      {
        says: "suspend, between the second time and the third",
        when: isApplied("scheduledsparkapplications"),
        afterMs: 30 * 60_000,
        do: { type: "patch", spec: { suspend: true } },
      },
    ],
    ends: "Scheduled",
    // Of several missed times, only one run is made up for.
    without: ["outage-20m"],
    breadth: "part",
  },
  {
    name: "schedule-quota",
    what: "a schedule of two runs that are kept, and a quota that refuses a third for ever: it is suspended",
    kind: "ScheduledSparkApplication",
    stands: [
      [
        "/api/v1/namespaces/default/resourcequotas",
        {
          ...{ apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "runs" } },
          spec: { hard: { "count/sparkapplications.sparkoperator.k8s.io": "2" } },
        },
      ],
    ],
    spec: { schedule: "*/12 * * * *", successfulRunHistoryLimit: 2, template: base },
    scripts: {},
    userActions: [
      {
        says: "suspend, between the third time and the fourth",
        when: isApplied("scheduledsparkapplications"),
        afterMs: 42 * 60_000,
        do: { type: "patch", spec: { suspend: true } },
      },
    ],
    ends: "Scheduled",
    breadth: "sparse",
  },
  {
    name: "replacement",
    what: "a schedule replaces the run that never ends by the next one",
    kind: "ScheduledSparkApplication",
    spec: { schedule: "*/12 * * * *", concurrencyPolicy: "Replace", template: { ...base, executor: { instances: 1 } } },
    scripts: { [runAt(12)]: [{ hangs: true }], [runAt(24)]: [{ hangs: true }] },
    userActions: [
      {
        says: "suspend, between the second time and the third",
        when: isApplied("scheduledsparkapplications"),
        afterMs: 30 * 60_000,
        do: { type: "patch", spec: { suspend: true } },
      },
    ],
    ends: "Scheduled",
    breadth: "thin",
  },
  {
    name: "connect",
    what: "a Connect server's template changes, then its pod is deleted, and it is ready again",
    kind: "SparkConnect",
    spec: {
      sparkVersion: "4.1.1",
      image: "docker.io/apache/spark:4.1.1",
      sparkConf: { "spark.ssl.keyPassword": "changeit" },
      server: { cores: 1, memory: "512m", template: { spec: { serviceAccount: "spark" } } },
      executor: { instances: 1 },
    },
    scripts: {},
    userActions: [
      {
        says: "kubectl patch: another template",
        when: isReady,
        afterMs: 2_000,
        do: { type: "patch", spec: { executor: { template: { spec: { nodeSelector: { disk: "ssd" } } } } } },
      },
      { says: "kubectl delete pod", when: isReady, afterMs: 40_000, do: { type: "remove", pod: `${appName}-server` } },
    ],
    ends: "Ready",
    breadth: "part",
  },
];

const watched: readonly Scenario[] = [
  ...[...first, ...lives, ...owned, ...executorLosses, ...strands],
  ...elastic,
  ...growths,
  ...keptLogs,
  ...gangApplications,
  ...[...scaling, ...memoryGrowth, ...recoveries, ...upstreamBugs, ...tellings, ...beside, ...dispatchedApplications],
];

const watchedOfVolcano: readonly Scenario[] = [
  ...jobs,
  ...flows,
  ...gangs,
  ...rooms,
  ...nears,
  ...natives,
  ...kueuedJobs,
  ...evictions,
  ...crons,
  ...queueing,
  ...ofVolcano,
  ...toldOfVolcano,
  ...besideOfVolcano,
  ...dispatchedJobs,
];

const belled = belledOf(watched);
const belledOfVolcano = belledOf(watchedOfVolcano);

const spark: readonly Scenario[] = [...watched, ...belled];
const volcano: readonly Scenario[] = [...watchedOfVolcano, ...belledOfVolcano];
const livesOfApache: readonly Scenario[] = [
  ...applicationsOfApache,
  ...[...ownedOfApache, ...queuedOfApache, ...gangsOfApache],
  ...clusters,
];

const apache: readonly Scenario[] = [
  ...livesOfApache,
  ...hostedOf(livesOfApache, [
    "apache-thresholds",
    "apache-retry",
    "apache-machine-away",
    "apache-own-loss",
    "cluster-ready",
    "cluster-lost",
  ]),
  ...dispatchedOf(livesOfApache, ["apache-thresholds", "apache-again", "cluster-changed"]),
];

/** The values of `--family`. */
export const families: Readonly<Record<string, readonly Scenario[]>> = {
  spark,
  volcano,
  apache,
  elastic,
  bell: [...belled, ...belledOfVolcano],
  kueue: [...growths, ...kueuedJobs, ...queuedOfApache, ...lives.filter(({ name }) => name === "kueued")],
  standby: [...beside, ...besideOfVolcano],
  gang: [...gangs, ...rooms, ...nears, ...natives, ...evictions, ...gangApplications, ...gangsOfApache],
};

export const scenarios: readonly Scenario[] = [...spark, ...volcano, ...apache];
