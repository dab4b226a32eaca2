/** Applications in a queue of Kueue that grow by Workloads. `growth-judge.ts` holds what they must keep. */
import type { Stored } from "../../../shared/core/object.ts";
import { flavorOf, kueueCrds } from "../../support/kueue.ts";
import { grantedBy, isQueued, type Quotas, queueWith } from "../../support/kueue-queue.ts";
import { elasticScenario, own, resyncedMs, type Way } from "./elastic.ts";
import { numberAt } from "./fields.ts";
import { baseExecutors, flavorNodes } from "./growth-judge.ts";
import { appName, executorRuns, type Scenario, stateIs, type UserAction } from "./scenario.ts";

const group = "/apis/kueue.x-k8s.io/v1beta2";
const workloads = `${group}/namespaces/default/workloads`;

/** The node labels of a flavor in a queue that has both. */
const nodesOf = (flavor: keyof typeof flavorNodes): object => ({ "kubernetes.io/hostname": flavorNodes[flavor] });

const flavorsOf = (quotas: Quotas): readonly object[] =>
  "reserved" in quotas
    ? (["spot", "reserved"] as const).map((name) => ({ ...flavorOf(name), spec: { nodeLabels: nodesOf(name) } }))
    : [{ ...flavorOf("spot"), spec: {} }];

const classes = `${group}/workloadpriorityclasses`;

const stands = (quotas: Quotas): NonNullable<Scenario["stands"]> => [
  ...kueueCrds.map((crd) => ["/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd] as const),
  ...flavorsOf(quotas).map((flavor) => [`${group}/resourceflavors`, flavor] as const),
  [`${group}/clusterqueues`, queueWith(quotas)],
];

/** True of a change of a Workload whose name begins so. */
const ofWorkload =
  (prefix: string, holds: (workload: Stored) => boolean): UserAction["when"] =>
  ({ table, type, object }) =>
    table === "workloads.kueue.x-k8s.io" &&
    type !== "DELETED" &&
    object.metadata.name.startsWith(prefix) &&
    holds(object);

const starts: UserAction = {
  says: "Kueue starts it",
  when: stateIs("SUSPENDED"),
  afterMs: 1_000,
  do: { type: "patch", spec: { suspend: false } },
};

/** As its integration does, Kueue writes the nodes of the base into the spec. */
const startsOnSpot: UserAction = {
  ...starts,
  do: { type: "patch", spec: { suspend: false, executor: { nodeSelector: nodesOf("spot") } } },
};

const quotaBecomes = (executors: number, when: UserAction["when"], afterMs: number): UserAction => ({
  ...{ says: `the ClusterQueue gets quota for ${executors} executors`, when, afterMs },
  do: { type: "write", method: "PATCH", path: `${group}/clusterqueues/all`, body: queueWith({ spot: executors }) },
});

const isGranted = ofWorkload(`${appName}-grow-`, (one) => grantedBy(one) > 0);
const waits = ofWorkload(`${appName}-grow-`, isQueued);

const isApplied: UserAction["when"] = ({ table, object }) =>
  table === "sparkapplications.sparkoperator.k8s.io" && object.metadata.name === appName;

const podSets = (count: number): object[] => [{ name: "executor", count, template: { spec: { containers: [] } } }];

const other = { apiVersion: "kueue.x-k8s.io/v1beta2", kind: "Workload", metadata: { name: "urgent" } };

/** Another Workload of a higher priority comes, and goes. */
const urgent = (afterMs: number, forMs: number): readonly UserAction[] => [
  {
    says: "a Workload of a higher priority needs two places",
    ...{ when: isGranted, afterMs },
    do: {
      ...{ type: "write", method: "POST", path: workloads },
      body: { ...other, spec: { queueName: "team-a", priority: 100, podSets: podSets(2) } },
    },
  },
  {
    says: "the other Workload is gone",
    ...{ when: isGranted, afterMs: afterMs + forMs },
    do: { type: "write", method: "DELETE", path: `${workloads}/urgent` },
  },
];

type Growing = Omit<Way, "stands" | "labels" | "kueued" | "also"> & { readonly quotas: Quotas };

/** Where a read of the past is tried, too: a growth that waits, one that goes while it is used, and one of another flavor. */
const readLate: ReadonlySet<string> = new Set(
  ["grows", "evicted-early", "flavors"].map((name) => `elastic-kueue-${name}`),
);

const ways: readonly Growing[] = [
  {
    name: "elastic-kueue-grows",
    what: "three executors are needed and one is admitted; the growth waits until the queue has quota, and is given back",
    quotas: { spot: baseExecutors },
    gauge: [
      [0, 3],
      [resyncedMs, 1],
    ],
    userActions: [starts, quotaBecomes(3, waits, 20_000)],
    settles: 1,
  },
  {
    name: "elastic-kueue-in-part",
    what: "the queue has quota for two of three executors, and for the third later: a second growth asks for it",
    quotas: { spot: 2 },
    gauge: [
      [0, 3],
      [resyncedMs, 3],
    ],
    userActions: [starts, quotaBecomes(3, isGranted, 30_000)],
    settles: 3,
  },
  {
    name: "elastic-kueue-evicted",
    what: "a higher priority evicts the growth: its executors leave, and come again when there is quota again",
    quotas: { spot: 3 },
    gauge: [
      [0, 3],
      [resyncedMs, 3],
    ],
    evicted: true,
    userActions: [starts, ...urgent(25_000, 90_000)],
    settles: 3,
  },
  {
    name: "elastic-kueue-evicted-early",
    what: "the growth is evicted while its executors are being created",
    quotas: { spot: 3 },
    gauge: [
      [0, 3],
      [resyncedMs, 3],
    ],
    evicted: true,
    userActions: [starts, ...urgent(200, 60_000)],
    settles: 3,
  },
  {
    name: "elastic-kueue-stale-wish",
    what: "the demand has gone while the growth waits: the growth goes, also where quota comes at that moment",
    quotas: { spot: baseExecutors },
    gauge: [
      [0, 3],
      [40_000, 1],
    ],
    userActions: [starts, quotaBecomes(3, executorRuns, 42_000)],
    settles: 1,
  },
  {
    name: "elastic-kueue-flavors",
    what: "the growth is admitted on the nodes of another flavor than the base, and evicted there; the base stays",
    quotas: { spot: baseExecutors, reserved: 2 },
    gauge: [
      [0, 3],
      [resyncedMs, 3],
    ],
    evicted: true,
    machines: Object.values(flavorNodes),
    userActions: [startsOnSpot, ...urgent(25_000, 90_000)],
    settles: 3,
  },
  {
    name: "elastic-kueue-flavors-mixed",
    what: "two growths are admitted, one on the nodes of the base and one on others, and both are given back",
    quotas: { spot: 2, reserved: 1 },
    gauge: [
      [0, 3],
      [resyncedMs, 1],
    ],
    machines: Object.values(flavorNodes),
    userActions: [startsOnSpot],
    settles: 1,
  },
];

/** Rekindle makes the Workload of its base, of which Kueue admits a part. */
const based: Scenario = elasticScenario({
  name: "elastic-kueue-base",
  what: "it begins with one of three executors, for which there is quota, grows when there is more, and shrinks",
  gauge: [
    [0, 3],
    [resyncedMs, 1],
  ],
  userActions: [quotaBecomes(3, waits, 20_000)],
  settles: 1,
  annotations: { ...own, "rekindle.dev/kueue-queue": "team-a" },
  spec: { dynamicAllocation: { enabled: true, initialExecutors: 3, minExecutors: 1, maxExecutors: 3 } },
  stands: stands({ spot: baseExecutors }),
  kueued: "growths",
});

const priorityClass = "kueue.x-k8s.io/priority-class";

const classOf = (name: string, value: number): object => ({
  ...{ apiVersion: "kueue.x-k8s.io/v1beta2", kind: "WorkloadPriorityClass", metadata: { name } },
  value,
});

const baseWaits = (priority: number): UserAction["when"] =>
  ofWorkload(`${appName}-base-`, (one) => isQueued(one) && numberAt(one, "spec", "priority") === priority);

/** The class of its label comes late; its Workload waits in a queue without quota when the label names another one. */
const ranked: Scenario = {
  ...based,
  name: "elastic-kueue-ranked",
  what: "its label names a class that comes later, and another one while it waits; then there is quota, and it grows",
  labels: { [priorityClass]: "urgent" },
  stands: [...stands({ spot: 0 }), [classes, classOf("calm", 3)]],
  userActions: [
    {
      says: "the class urgent is created",
      when: isApplied,
      afterMs: 5_000,
      do: { type: "write", method: "POST", path: classes, body: classOf("urgent", 70) },
    },
    {
      says: "kubectl label: calm",
      when: baseWaits(70),
      afterMs: 5_000,
      do: {
        ...{ type: "write", method: "PATCH", body: { metadata: { labels: { [priorityClass]: "calm" } } } },
        path: `/apis/sparkoperator.k8s.io/v1beta2/namespaces/default/sparkapplications/${appName}`,
      },
    },
    quotaBecomes(baseExecutors, baseWaits(3), 5_000),
    quotaBecomes(3, waits, 20_000),
  ],
};

const grown = ways.map(({ quotas, ...way }) =>
  elasticScenario({
    ...way,
    also: readLate.has(way.name) ? ["stale", "deaf"] : ["deaf"],
    spec: {
      ...{ suspend: true, executor: { instances: baseExecutors, cores: 1, memory: "512m" } },
      dynamicAllocation: { enabled: true, initialExecutors: 1, minExecutors: 1, maxExecutors: 3 },
    },
    labels: { "kueue.x-k8s.io/queue-name": "team-a" },
    stands: stands(quotas),
    kueued: "growths",
  }),
);

export const growths: readonly Scenario[] = [...grown, based, ranked];
