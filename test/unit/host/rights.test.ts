/** The shipped RBAC rights are enough for whole lives of applications, and each of them is needed. */
import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import type { Obj } from "../../../shared/core/object.ts";
import { openActions } from "../../../shared/deployments/page/actions.ts";
import { openReviews } from "../../../shared/deployments/page/kube-token.ts";
import { openLogs } from "../../../shared/deployments/page/logs.ts";
import { lookoutRules } from "../../../shared/installation/feature-rules.ts";
import { hostRules, nodeRules } from "../../../shared/installation/roles.ts";
import type { Rule } from "../../../shared/installation/rule.ts";
import { families } from "../../../shared/kube/resources.ts";
import { coschedulingPodGroups } from "../../../shared/spark/auxiliary-objects/batch-scheduler.ts";
import { defaultOptions } from "../../../shared/spark/auxiliary-objects/options.ts";
import { crds } from "../../support/crds.ts";
import { kueueCrds } from "../../support/kueue.ts";
import { endCluster } from "./ended-cluster.ts";
import {
  apacheApplication,
  application,
  command,
  connect,
  cronJob,
  jobFlow,
  queue,
  schedule,
  sparkCluster,
  volcanoJob,
} from "./objects.ts";
import { growing, growWithKueue, queueWithKueue } from "./queued-with-kueue.ts";
import { findControllers, hostToken, install, openComparison, type Right, textOf, type Way, wayOf } from "./rights.ts";
import { onStand, type Stand } from "./stand.ts";

/** The definition of a batch scheduler's PodGroups, which Rekindle does not ship. */
const podGroups = [coschedulingPodGroups].map(
  ({ group, version, plural, kind }): Obj => ({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural, kind, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
        },
      ],
    },
  }),
);

const spark = { ...defaultOptions, driverPdb: true, batchScheduler: true, kubeSchedulerNames: ["gangs"] };

const volume = "spark.kubernetes.driver.volumes.persistentVolumeClaim.data";

/** A spec whose submission creates every kind of object. */
const rich = {
  sparkVersion: "4.3.0",
  driver: { cores: 1, memory: "512m", serviceAccount: "spark" },
  restartPolicy: { type: "OnFailure", onFailureRetries: 2, onFailureRetryInterval: 3 },
  timeToLiveSeconds: 60,
  driverPodDisruptionBudget: true,
  driverIngressOptions: [{ servicePort: 9_999, servicePortName: "api", ingressURLFormat: "{{$appName}}.example.com" }],
  batchScheduler: "volcano",
  sparkConf: {
    [`${volume}.mount.path`]: "/data",
    [`${volume}.options.claimName`]: "OnDemand",
    [`${volume}.options.storageClass`]: "standard",
    [`${volume}.options.sizeLimit`]: "1Gi",
  },
};

const controllers = [
  ["apps/v1", "ReplicaSet"],
  ["apps/v1", "StatefulSet"],
  ["apps/v1", "DaemonSet"],
  ["batch/v1", "Job"],
] as const;

/** Creates a controller, and a pod of it for Volcano's scheduler. */
const bare = async ({ simulator, create }: Stand, apiVersion: string, kind: string): Promise<void> => {
  const path = `/apis/${apiVersion}/namespaces/default/${kind.toLowerCase()}s`;
  const body = JSON.stringify({ apiVersion, kind, metadata: { name: "web", namespace: "default" }, spec: {} });
  const answer = simulator.handle({ method: "POST", path, headers: {}, body });
  assert.equal(answer.status, 201, answer.body);
  const { uid } = JSON.parse(answer.body).metadata;
  await create({
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `bare-${kind.toLowerCase()}`,
      namespace: "default",
      ownerReferences: [{ apiVersion, kind, name: "web", uid, controller: true }],
    },
    spec: { schedulerName: "volcano", containers: [{ name: "main", image: "busybox" }] },
  });
};

const begins = (prefix: string, { metadata }: Obj): boolean => metadata.name.startsWith(prefix);

/** Returns the spec of a job of this many pods, with a new claim, a priority class, a topology, and a short time to live. */
const gang = (replicas: number): Readonly<Record<string, unknown>> => {
  const { spec } = volcanoJob("pair", { runMs: 20_000 });
  const [task] = Object(spec)["tasks"];
  const classes = { priorityClassName: "system-node-critical", runtimeClassName: "sandboxed" };
  const template = { ...task.template, spec: { ...task.template.spec, ...classes } };
  return {
    ttlSecondsAfterFinished: 5,
    minAvailable: replicas,
    networkTopology: { mode: "soft" },
    volumes: [{ mountPath: "/data", volumeClaim: { accessModes: ["ReadWriteOnce"] } }],
    tasks: [{ ...task, replicas, template }],
  };
};

/** Reads the log of a driver as the page does. */
const readLog = async (stand: Stand, transport: Way["transport"]): Promise<void> => {
  await stand.turn(5_000);
  const source = { transport, table: undefined };
  await openLogs(source)({ kind: "SparkApplication", namespace: "default", name: "deleted" }, { pod: "" });
};

const viewer = {
  name: "operator",
  namespaces: [],
  id: "operator",
  grants: [{ ability: "act" as const, namespaces: [] }],
};

const parts = { report: () => {}, commandNamespace: "default", now: Date.now, advice: "" };

/** Closes the queue as the page does, once: its request is repeated. */
const closeQueue = async ({ get }: Stand, transport: Way["transport"]): Promise<void> => {
  const { name } = queue.metadata;
  const { uid = "", resourceVersion: version = "" } = get("Queue", name, "")?.metadata ?? {};
  const wish = { action: "close" as const, uid, version, once: "close the queue" };
  const { operate } = openActions({ ...parts, transport });
  // The answer to the first creation of a resource is lost.
  const answers = [await operate(viewer, name, wish), await operate(viewer, name, wish)];
  assert.deepEqual(
    answers.map(({ status }) => status),
    [502, 200],
  );
};

/** Pauses, resumes or deletes an object as the page does. */
const actOn = async (
  { get }: Stand,
  transport: Way["transport"],
  { kind, name }: { readonly kind: string; readonly name: string },
  action: "pause" | "resume" | "delete",
): Promise<void> => {
  const { uid = "", resourceVersion: version = "" } = get(kind, name)?.metadata ?? {};
  const named = { kind, namespace: "default", name };
  await openActions({ ...parts, transport }).act(viewer, named, { action, uid, version, once: `${action} ${name}` });
};

/** Signs in with a token of Kubernetes as on the page. */
const signIn = async ({ simulator }: Stand, transport: Way["transport"]): Promise<void> => {
  const review = openReviews({ transport, families, namespaces: async () => [], now: Date.now });
  // The answers to the first review of a token, and to the first one of a right, are lost.
  for (let nth = 0; nth < 3; nth += 1) await review(hostToken(simulator.store));
};

/** Runs two jobs, of which the first fills all nodes: the second has a higher priority, and gets a place of the first. */
const evict = async (stand: Stand): Promise<void> => {
  const job = (name: string, runMs: number, replicas: number, more: object = {}): Obj => {
    const [task] = Object(volcanoJob(name, { runMs })["spec"])["tasks"];
    const containers = [{ name: "main", image: "busybox", resources: { requests: { cpu: "40" } } }];
    const template = { ...task.template, spec: { ...task.template.spec, containers } };
    const tasks = [{ ...task, replicas, minAvailable: 1, template }];
    return volcanoJob(
      name,
      { runMs },
      { ...{ ttlSecondsAfterFinished: 5, minAvailable: 1, plugins: {}, tasks }, ...more },
    );
  };
  const upper = { apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass", metadata: { name: "upper" } };
  await stand.create({ ...upper, value: 1_000 });
  await stand.create(job("lower", 120_000, 4));
  await stand.turn(60_000);
  await stand.create(job("upper", 5_000, 1, { priorityClassName: "upper" }));
  await stand.turn(300_000);
};

/** Runs a job by PodGroups of Kubernetes. */
const placeNatively = async (stand: Stand, transport: Way["transport"]): Promise<void> => {
  const metadata = { name: "v1beta1.scheduling.k8s.io" };
  await stand.create({ apiVersion: "apiregistration.k8s.io/v1", kind: "APIService", metadata });
  await stand.host({ transport, spark, families, gang: "native" });
  await stand.create(volcanoJob("native", { runMs: 1_000 }, { ttlSecondsAfterFinished: 5 }));
  await stand.turn(60_000);
};

/**
 * Runs applications that need every right: one fails, is retried, completes and exceeds its time to live; one is
 * deleted while it runs.
 */
const live = async (stand: Stand, { transport }: Way): Promise<void> => {
  await findControllers(stand.simulator, transport);
  await stand.create(queue);
  await stand.create({
    ...{ apiVersion: "node.k8s.io/v1", kind: "RuntimeClass", metadata: { name: "sandboxed" }, handler: "sandbox" },
  });
  const host = await stand.host({ transport, spark, families, gang: "builtin", gangEvict: "preempt" });
  await stand.create(application("retried", { spec: rich }));
  await stand.create(application("deleted", { spec: { ...rich, batchScheduler: "gangs" } }));
  await stand.create(application("owned", { annotations: { "rekindle.dev/executors": "own" } }));
  // No scheduler of this name exists, so the host reads the Events of the driver.
  const unplaced = { cores: 1, memory: "512m", serviceAccount: "spark", schedulerName: "nobody" };
  await stand.create(application("unplaced", { spec: { driver: unplaced } }));
  await stand.create(
    schedule("often", {
      schedule: "@every 20s",
      template: application("often", { spec: { ...rich, batchScheduler: "gangs" } })["spec"],
      successfulRunHistoryLimit: 0,
    }),
  );
  await stand.create(connect("server"));
  await stand.create(apacheApplication("apache"));
  await stand.create(sparkCluster("cluster"));
  await readLog(stand, transport);
  await signIn(stand, transport);
  for (const [kind, name] of [
    ["SparkApplication", "deleted"],
    ["ScheduledSparkApplication", "often"],
    ["SparkConnect", "server"],
  ] as const) {
    await actOn(stand, transport, { kind, name }, "pause");
    await actOn(stand, transport, { kind, name }, "resume");
  }
  for (const [apiVersion, kind] of controllers) await bare(stand, apiVersion, kind);
  await stand.create(volcanoJob("pair", { runMs: 20_000 }, gang(2)));
  await stand.create(cronJob("minutely", { runMs: 1_000 }));
  for (const object of jobFlow("flow", ["one"], { runMs: 1_000 })) await stand.create(object);
  for (const [kind, name] of [
    ["CronJob", "minutely"],
    ["JobFlow", "flow"],
  ] as const) {
    await actOn(stand, transport, { kind, name }, "pause");
    await actOn(stand, transport, { kind, name }, "resume");
  }
  await stand.turn(5_000);
  for (const { metadata } of stand.all("PodGroup").filter((one) => begins("pair-", one)))
    await stand.patch("PodGroup", metadata.name, { status: { phase: "Inqueue" } });
  await stand.turn(15_000);
  for (const pair of stand.all("Job").filter((one) => one.metadata.name === "pair")) {
    await stand.patch("Job", "pair", { spec: gang(3) });
    await stand.create(command("nothing", "SyncJob", pair));
  }
  await stand.turn(25_000);
  await stand.patch("SparkCluster", "cluster", { spec: { runtimeVersions: { sparkVersion: "4.2.1" } } });
  await stand.patch("SparkConnect", "server", {
    spec: { executor: { template: { spec: { nodeSelector: { a: "b" } } } } },
  });
  const unlabelled = { metadata: { labels: { "sparkoperator.k8s.io/connect-name": null } } };
  if (stand.get("Service", "server-server") !== undefined) await stand.patch("Service", "server-server", unlabelled);
  await stand.turn(5_000);
  stand.simulator.evictPod("default", "server-server");
  await endCluster(stand);
  await stand.turn(45_000);
  for (const [kind, name] of [
    ["SparkConnect", "server"],
    ["SparkCluster", "cluster"],
    ["ScheduledSparkApplication", "often"],
  ] as const) {
    await actOn(stand, transport, { kind, name }, "delete");
  }
  // A killed driver leaves its objects behind.
  stand.simulator.killPod("default", "retried-driver", { code: 137 });
  // A node stops, and the host reads it.
  const victim = stand
    .all("Pod")
    .find(({ metadata: { labels = {} } }) =>
      ["deleted", "executor"].every((word) => Object.values(labels).includes(word)),
    );
  const machine = String(Object(victim?.["spec"])["nodeName"]);
  stand.simulator.nodes.freeze(machine);
  await stand.turn(75_000);
  stand.simulator.nodes.thaw(machine);
  for (const name of ["deleted", "owned", "unplaced"]) await stand.remove("SparkApplication", name);
  await actOn(stand, transport, { kind: "CronJob", name: "minutely" }, "delete");
  await actOn(stand, transport, { kind: "JobFlow", name: "flow" }, "delete");
  await queueWithKueue(stand);
  await growWithKueue(stand);
  await evict(stand);
  const stopped = host.drain(20_000);
  await stand.turn(30_000);
  await stopped;
  await placeNatively(stand, transport);
  await closeQueue(stand, transport);
  await stand.remove("JobTemplate", "one");
  await stand.pass(0.5);
  for (const { metadata } of stand.all("Pod").filter((one) => begins("bare-", one)))
    await stand.remove("Pod", metadata.name);
  for (const name of ["root", "default"]) {
    if (stand.get("Queue", name, "") !== undefined) await stand.remove("Queue", name, "");
    await stand.turn(2_000);
  }
};

/** The CRD of a route of the Gateway API, which keeps each field. */
const route = (plural: string, kind: string) => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${plural}.gateway.networking.k8s.io` },
  spec: {
    ...{ group: "gateway.networking.k8s.io", scope: "Namespaced", names: { plural, kind, listKind: `${kind}List` } },
    versions: [
      {
        ...{ name: "v1", served: true, storage: true },
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
});

const options = {
  ...{ rbac: true, guardsOwners: true },
  crds: [...crds, ...podGroups, ...kueueCrds, route("httproutes", "HTTPRoute"), route("grpcroutes", "GRPCRoute")],
  schedulers: ["default-scheduler", "volcano", "gangs"],
  scripts: { retried: [{ hangs: true }, { jobMs: 1_000 }], deleted: [{ hangs: true }], grown: [growing] },
} as const;

const rules: readonly Rule[] = [...hostRules, ...lookoutRules, ...nodeRules];

const rights: readonly Right[] = rules.flatMap(({ apiGroups, resources, verbs }) =>
  apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => ({ group, resource, verb })))),
);

/** Returns the rules without one right. */
const without = (right: Right): readonly Rule[] =>
  rules.flatMap((rule) =>
    rule.resources.map((resource) => ({
      ...{ ...rule, resources: [resource] },
      verbs: rule.verbs.filter((verb) => textOf({ group: rule.apiGroups[0] ?? "", resource, verb }) !== textOf(right)),
    })),
  );

class Refused extends Error {}

/** Returns the stand with a `turn` that throws after the first refusal. */
const untilRefused = (stand: Stand, { refused }: Way): Stand => {
  const turn = async (ms: number): Promise<void> => {
    if (refused.length > 0) throw new Refused(refused.join(", "));
    await stand.turn(Math.min(ms, 2_500));
    if (ms > 2_500) await turn(ms - 2_500);
  };
  return { ...stand, turn };
};

const withRules = (given: readonly Rule[], act: (stand: Stand, way: Way) => Promise<void>) =>
  onStand((stand) => act(stand, wayOf(stand.simulator, install(stand.simulator, given))), options);

describe("the shipped rights", () => {
  const needed = rights.filter(({ resource }) => resource !== "namespaces");
  const sets = new Map(needed.map((right) => [textOf(right), without(right)]));
  let refusedWithout: ReadonlySet<string> = new Set();
  let left: readonly Obj[] = [];
  let refused: readonly string[] = [];

  // A life without one right is the same up to its first refusal: one life shows where each of them would end.
  before(
    onStand(async (stand) => {
      const token = install(stand.simulator, rules);
      const comparison = openComparison(stand.simulator, sets);
      const way = wayOf(stand.simulator, token, comparison.compare);
      await live(stand, way);
      const kinds = ["SparkApplication", "Job", "Pod", "Checkpoint"];
      // The queues root and default are created again, and have records.
      left = kinds.flatMap(stand.all).filter(({ metadata }) => !metadata.name.startsWith("queue."));
      refused = way.refused;
      refusedWithout = comparison.refused;
    }, options),
  );

  it("are enough", () => assert.deepEqual([refused, left], [[], []]));

  for (const right of needed)
    it(`are too few without ${textOf(right)}`, () => assert.ok(refusedWithout.has(textOf(right))));

  it(
    "are too few without one of them: the API server refuses the host",
    withRules(without({ group: "", resource: "pods", verb: "delete" }), async (stand, way) => {
      await assert.rejects(live(untilRefused(stand, way), way), Refused);
      assert.deepEqual([...new Set(way.refused)], ["delete pods"]);
    }),
  );

  it(
    "are too few to start without the right to read kube-system",
    withRules(without({ group: "", resource: "namespaces", verb: "get" }), async (stand, way) => {
      await assert.rejects(live(stand, way), /cannot get resource "namespaces"/);
    }),
  );
});
