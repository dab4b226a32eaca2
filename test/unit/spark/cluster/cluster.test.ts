/** A SparkCluster: the reading of its spec, its objects, and the decision of a step on a world of literals. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Key } from "../../../../shared/core/key.ts";
import type { Obj, Stored } from "../../../../shared/core/object.ts";
import type { Effect, Plan, Refusal } from "../../../../shared/core/plan.ts";
import { decide } from "../../../../shared/spark/cluster/decide.ts";
import {
  entered,
  type Memory,
  newestOf,
  recovery,
  statesIn,
  statusOf,
  submitted,
} from "../../../../shared/spark/cluster/memory.ts";
import { clusterObjects } from "../../../../shared/spark/cluster/objects.ts";
import { readCluster } from "../../../../shared/spark/cluster/read.ts";
import { resultOf } from "../../../support/decisions.ts";

type Fields = Readonly<Record<string, unknown>>;

const t0 = Date.parse("2026-11-02T08:00:00Z");

const workers = (initWorkers: number, minWorkers = initWorkers, maxWorkers = initWorkers): Fields => ({
  clusterTolerations: { instanceConfig: { initWorkers, minWorkers, maxWorkers } },
});

const spec = (fields: Fields = {}): Fields => ({
  runtimeVersions: { sparkVersion: "4.2.0" },
  ...workers(2),
  ...fields,
});

const cluster = (fields: Fields = {}, metadata: Fields = {}): Stored => ({
  apiVersion: "spark.apache.org/v1",
  kind: "SparkCluster",
  metadata: { name: "c", namespace: "ns", uid: "u-1", resourceVersion: "5", generation: 1, ...metadata },
  spec: spec(fields),
});

const objectsOf = (fields: Fields = {}): readonly Obj[] => {
  const read = readCluster({ metadata: { name: "c" }, spec: spec(fields) });
  if (!read.ok) throw new Error(read.message);
  return clusterObjects({ name: "c", namespace: "ns", uid: "u-1", spec: read.spec, operatorName: "o" });
};

const named = (objects: readonly Obj[], kind: string, name: string): Obj =>
  objects.find((one) => one.kind === kind && one.metadata.name === name) ?? assert.fail(`no ${kind} ${name}`);

/** An object as the API server has stored it. */
const stored = (object: Obj, more: Fields = {}): Stored => ({
  ...object,
  metadata: { ...object.metadata, uid: `u of ${object.metadata.name}`, resourceVersion: "9" },
  ...more,
});

describe("the spec of a SparkCluster", () => {
  const rows: readonly (readonly [why: string, fields: Fields, name: string, says: RegExp])[] = [
    ["lacks the numbers of workers", { clusterTolerations: {} }, "c", /instanceConfig/],
    ["has a version that no label takes", { runtimeVersions: { sparkVersion: "4 2" } }, "c", /becomes a label/],
    ["has a name with a dot", {}, "dot.cluster", /at most 45/],
    ["has a name that is too long for its StatefulSets", {}, "c".repeat(46), /at most 45/],
    ["has an autoscaler without a worker", workers(1, 0, 2), "c", /keeps at least 1 worker/],
    [
      "has more confs than Spark knows",
      { sparkConf: Object.fromEntries(Array.from({ length: 2_001 }, (_, at) => [`k${at}`, ""])) },
      "c",
      /2,?000/,
    ],
  ];
  for (const [why, fields, name, says] of rows)
    test(`that ${why} is refused`, () => {
      const read = readCluster({ metadata: { name }, spec: spec(fields) });
      assert.match(read.ok ? "" : read.message, says);
    });

  test("without a name that is too long is read, and says which of its fields have no effect", () => {
    const given = spec({ runtimeVersions: { sparkVersion: "4.2.0", jdkVersion: "17" }, ...workers(5, 1, 2) });
    const read = readCluster({ metadata: { name: "c".repeat(45) }, spec: given });
    assert.deepEqual(read.ok && read.warnings.map((one) => one.split(" ")[0]), [
      "spec.runtimeVersions.jdkVersion",
      "spec.clusterTolerations.instanceConfig:",
    ]);
  });
});

describe("the objects of a SparkCluster", () => {
  test("are two Services, two StatefulSets and a policy; an autoscaler and a budget only where the numbers ask for them", () => {
    const kindsOf = (fields: Fields) => objectsOf(fields).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    const always = ["Service c-master-svc", "Service c-worker-svc", "StatefulSet c-master", "StatefulSet c-worker"];
    const policy = "NetworkPolicy c-worker";
    assert.deepEqual(kindsOf(workers(0)), [...always, policy]);
    assert.deepEqual(kindsOf(workers(1)), [...always, policy, "PodDisruptionBudget c-worker-pdb"]);
    assert.deepEqual(kindsOf(workers(1, 1, 2)), [
      ...[...always, policy, "HorizontalPodAutoscaler c-worker-hpa", "PodDisruptionBudget c-worker-pdb"],
    ]);
  });

  test("have selectors that name the cluster: two of one namespace share no pod", () => {
    for (const role of ["master", "worker"]) {
      const { spec: of } = named(objectsOf(), "StatefulSet", `c-${role}`);
      assert.deepEqual(Object(of).selector, {
        matchLabels: { "spark-role": role, "spark.operator/spark-cluster-name": "c" },
      });
    }
  });

  test("keep the template's containers, volumes and metadata; names, selectors and replicas are the cluster's", () => {
    const statefulSetSpec = {
      replicas: 7,
      selector: { matchLabels: { mine: "yes" } },
      template: {
        metadata: { labels: { team: "a" }, annotations: { note: "b" } },
        spec: {
          volumes: [{ name: "data" }],
          initContainers: [{ name: "first" }],
          containers: [
            { name: "worker", env: [{ name: "A", value: "1" }], resources: { limits: { cpu: "2" } } },
            { name: "sidecar", image: "s", securityContext: { allowPrivilegeEscalation: true } },
          ],
        },
      },
    };
    const workerSpec = { statefulSetSpec, statefulSetMetadata: { name: "mine", annotations: { x: "y" } } };
    const set = named(objectsOf({ workerSpec }), "StatefulSet", "c-worker");
    const { replicas, template } = Object(set.spec);
    assert.equal(replicas, 2);
    assert.equal(set.metadata.annotations?.["x"], "y");
    assert.equal(template.metadata.labels.team, "a");
    assert.equal(template.metadata.labels["spark-role"], "worker");
    assert.deepEqual(template.spec.volumes, [{ name: "data" }]);
    assert.equal(template.spec.initContainers[0].securityContext.allowPrivilegeEscalation, false);
    const [worker, sidecar] = template.spec.containers;
    assert.deepEqual(
      [worker.name, worker.image, worker.resources],
      ["worker", "apache/spark:4.2.0", { limits: { cpu: "2" } }],
    );
    assert.deepEqual(
      worker.env.map(({ name }: { name: string }) => name),
      ["A", "SPARK_LOG_DIR", "SPARK_WORKER_OPTS"],
    );
    assert.equal(sidecar.securityContext.allowPrivilegeEscalation, true);
  });

  test("know the confs, the version of the image, and the namespace, whatever the confs say of it", () => {
    const sparkConf = {
      "spark.kubernetes.container.image": "spark:{{SPARK_VERSION}}",
      "spark.kubernetes.namespace": "elsewhere",
      "spark.ui.reverseProxy": "true",
    };
    const { spec: of } = named(objectsOf({ sparkConf }), "StatefulSet", "c-master");
    const [master] = Object(of).template.spec.containers;
    assert.equal(master.image, "spark:4.2.0");
    assert.equal(
      master.env[0].value,
      '-Dspark.shuffle.service.enabled="true" -Dspark.kubernetes.container.image="spark:4.2.0" -Dspark.kubernetes.namespace="ns" -Dspark.ui.reverseProxy="true" ',
    );
  });
});

const key: Key = { cluster: "here", kind: "SparkCluster", namespace: "ns", name: "c" };

type Given = {
  readonly object?: Stored | undefined;
  readonly memory?: Memory;
  readonly there?: readonly Stored[];
  readonly now?: number;
  readonly refused?: readonly Refusal[];
};

type Steps = { readonly plan: Plan<Memory>; readonly effects: readonly Effect[] };

/** Decides as a step does: again after each plan that continues. */
const stepsOf = (given: Given = {}, done: readonly Effect[] = []): Steps => {
  const plan = decidedOf(given, done);
  const effects = [...done, ...plan.stages.flat()];
  if (plan.next.do !== "continue") return { plan, effects };
  const made = plan.stages.flat().flatMap((effect) => (effect.do === "create" ? [stored(effect.object)] : []));
  return stepsOf({ ...given, memory: plan.memory, there: [...(given.there ?? []), ...made] }, effects);
};

/** The last plan of a step, with all effects of the step. */
const planOf = (given: Given = {}): Plan<Memory> => {
  const { plan, effects } = stepsOf(given);
  return { ...plan, stages: [effects] };
};

const decidedOf = (given: Given, done: readonly Effect[]): Plan<Memory> => {
  const { there = [], now = t0, refused = [], memory } = given;
  const object = "object" in given ? given.object : cluster();
  const view = { object, uid: "u-1", memory, now, refused, done };
  return resultOf(decide({ operatorName: "o" }, key, view), {
    objects: (query) =>
      query.do === "get"
        ? there.filter(({ kind, metadata }) => kind === query.ref.resource.kind && metadata.name === query.ref.name)
        : [],
  });
};

const did = ({ stages }: Plan<Memory>): readonly string[] =>
  stages.flat().map((effect) => {
    if (effect.do === "record") return `${effect.type} ${effect.reason}`;
    const name = "ref" in effect ? effect.ref.name : "object" in effect ? effect.object.metadata.name : "";
    return `${effect.do} ${name}`;
  });

const stateOf = ({ memory }: Plan<Memory>): string => {
  const states = statesIn(memory.status);
  return states === undefined ? "" : states.map(({ summary }) => summary).join(" ");
};

const running: Memory = { status: statusOf(entered(submitted(t0), "RunningHealthy", "", t0)) };
const shown = { status: running.status };

const refusal: Refusal = {
  effect: {
    do: "delete",
    ref: { resource: { group: "", version: "v1", plural: "x", kind: "X" }, name: "x" },
    uid: "u",
  },
  ...{ status: 409, reason: "AlreadyExists", message: "Service c-master-svc is another's" },
};

describe("a step of a SparkCluster", () => {
  test("creates its objects, Services first, and shows that it runs with what is not ready", () => {
    const plan = planOf();
    assert.deepEqual(did(plan), [
      ...["Normal Submitted", "create c-master-svc", "create c-worker-svc", "create c-master", "create c-worker"],
      ...["create c-worker", "create c-worker-pdb", "Normal RunningHealthy"],
    ]);
    assert.equal(stateOf(plan), "Submitted RunningHealthy");
    const states = statesIn(plan.memory.status) ?? assert.fail("no state");
    assert.equal(newestOf(states).message, "Master is not ready, 0 of 2 workers are ready.");
  });

  test("does nothing where all is as it was made, and says that all is ready", () => {
    const there = objectsOf().map((one) =>
      stored(one, one.kind === "StatefulSet" ? { status: { readyReplicas: 2 } } : {}),
    );
    const plan = planOf({ there, memory: running, object: { ...cluster(), ...shown } });
    assert.deepEqual(did(plan), []);
    assert.equal(newestOf(statesIn(plan.memory.status) ?? submitted(t0)).message, "Cluster has reached ready state.");
    assert.deepEqual(plan.next, { do: "wait", waitsFor: { on: "clients" } });
  });

  test("changes what the spec has changed, deletes what it no longer has, and touches nothing that cannot change", () => {
    const there = objectsOf(workers(3, 1, 3)).map((one) => stored(one));
    const object = {
      ...cluster({ ...workers(2, 0, 0), ...{ sparkConf: { "spark.kubernetes.container.image": "new" } } }),
      ...shown,
    };
    const plan = planOf({ there, memory: running, object });
    assert.deepEqual(did(plan), ["patch c-master", "patch c-worker", "delete c-worker-hpa", "delete c-worker-pdb"]);
    const patch = plan.stages.flat().find((effect) => effect.do === "patch" && effect.ref.name === "c-worker");
    const of = Object(patch && "patch" in patch ? patch.patch : {});
    assert.equal(of.spec.replicas, 2);
    assert.equal(of.spec.selector, undefined);
    assert.equal(of.spec.template.spec.containers[0].image, "new");
  });

  test("leaves the number of workers to their autoscaler", () => {
    const there = objectsOf(workers(1, 1, 3)).map((one) =>
      stored(
        one,
        one.metadata.name === "c-worker" && one.kind === "StatefulSet"
          ? { spec: { ...Object(one.spec), replicas: 3 } }
          : {},
      ),
    );
    const object = { ...cluster({ ...workers(1, 1, 3), sparkConf: { "spark.ui.reverseProxy": "true" } }), ...shown };
    const patches = planOf({ there, memory: running, object }).stages.flat();
    for (const effect of patches)
      if (effect.do === "patch") assert.equal(Object(effect.patch).spec?.replicas, undefined);
    assert.equal(patches.length, 2);
  });

  test("shows a refusal once, and tries again after a wait that grows, or when the spec changes", () => {
    const first = planOf({ refused: [refusal] });
    assert.equal(stateOf(first), "Submitted SchedulingFailure");
    const retryAt = first.memory.refused?.retryAt ?? 0;
    assert.equal(retryAt, t0 + 5_000);
    const object = { ...cluster(), status: first.memory.status };
    assert.deepEqual(did(planOf({ object, memory: first.memory, now: t0 + 1_000 })), []);
    const corrected = { ...object, metadata: { ...object.metadata, generation: 2 } };
    assert.equal(did(planOf({ object: corrected, memory: first.memory, now: t0 + 1_000 })).length > 0, true);
    const second = planOf({ object, memory: first.memory, now: retryAt, refused: [refusal] });
    assert.equal(stateOf(second), "Submitted SchedulingFailure");
    assert.equal(second.memory.refused?.retryAt, retryAt + 10_000);
    assert.equal(
      stateOf(planOf({ object, memory: second.memory, now: retryAt + 10_000 })),
      "Submitted SchedulingFailure RunningHealthy",
    );
  });

  test("refuses a spec that cannot be read, and rests until it changes", () => {
    const plan = planOf({ object: cluster(workers(1, 0, 2)) });
    assert.deepEqual(did(plan), ["Normal Submitted", "Warning SchedulingFailure"]);
    assert.equal(plan.next.do, "rest");
  });

  test("holds a suspended cluster back only before its StatefulSets exist", () => {
    assert.deepEqual(did(planOf({ object: cluster({ suspend: true }) })), []);
    const there = objectsOf()
      .slice(0, 3)
      .map((one) => stored(one));
    assert.ok(did(planOf({ object: cluster({ suspend: true }), there })).includes("create c-worker"));
  });

  test("creates again what is gone, and never takes an object of another owner for its own", () => {
    const there = objectsOf().map((one) => stored(one));
    const left = there.filter(({ metadata }) => metadata.name !== "c-master-svc");
    const object = { ...cluster(), ...shown };
    assert.deepEqual(did(planOf({ there: left, memory: running, object })), ["create c-master-svc"]);
    const theirs = there.map((one) =>
      one.metadata.name === "c-master-svc" ? { ...one, metadata: { ...one.metadata, ownerReferences: [] } } : one,
    );
    assert.deepEqual(did(planOf({ there: theirs, memory: running, object })), ["create c-master-svc"]);
  });

  test("removes the finalizer of upstream from a cluster under deletion, and keeps those of others", () => {
    const finalizers = ["other", "sparkclusters.spark.apache.org/finalizer"];
    const object = cluster({}, { deletionTimestamp: "2026-11-02T08:00:00Z", finalizers });
    const [effect] = planOf({ object }).stages.flat();
    assert.deepEqual(effect?.do === "patch" && effect.patch, { metadata: { finalizers: ["other"] } });
    assert.deepEqual(did(planOf({ object: cluster({}, { deletionTimestamp: "2026-11-02T08:00:00Z" }) })), []);
  });

  test("begins nothing again after a cleanup, and lets the cluster go when it is deleted", () => {
    const kept = recovery.ended?.(running, t0, "cleaned up") ?? assert.fail("no end");
    const plan = planOf({ memory: kept });
    assert.deepEqual([plan.next.do, stateOf(plan)], ["rest", "Submitted RunningHealthy ResourceReleased"]);
    assert.equal(recovery.isLive({ ...cluster(), status: kept.status }), false);
    const finalizers = ["sparkclusters.spark.apache.org/finalizer"];
    const object = cluster({}, { deletionTimestamp: "2026-11-02T08:00:00Z", finalizers });
    assert.deepEqual(did(planOf({ object, memory: kept })), ["patch c"]);
  });

  test("writes nothing to upstream's mark of its own health, and forgets a cluster that is gone", () => {
    const sentinel = planOf({ object: cluster({}, { labels: { "spark.operator/sentinel": "true" } }) });
    assert.deepEqual([did(sentinel), sentinel.status], [[], undefined]);
    assert.equal(planOf({ object: undefined }).next.do, "forget");
  });
});

describe("the states of a SparkCluster", () => {
  test("do not follow themselves, and are bounded with the first one kept", () => {
    let states = submitted(t0);
    for (let at = 0; at < 120; at += 1)
      states = entered(states, at % 2 === 0 ? "SchedulingFailure" : "RunningHealthy", `${at}`, t0 + at);
    assert.equal(entered(states, "RunningHealthy", "same", t0).length, states.length);
    assert.ok(states.length <= 50);
    assert.equal(states[0].summary, "Submitted");
    assert.equal(newestOf(states).number, 120);
  });

  test("are read from whatever status is there", () => {
    const rows: readonly (readonly [status: unknown, count: number | undefined])[] = [
      [undefined, undefined],
      [{}, undefined],
      [{ stateTransitionHistory: null }, undefined],
      [{ currentState: { currentStateSummary: "RunningHealthy", lastTransitionTime: "x" } }, 1],
      [{ stateTransitionHistory: { 0: { currentStateSummary: "Odd", lastTransitionTime: "x" } } }, undefined],
      [statusOf(entered(submitted(t0), "RunningHealthy", "", t0)), 2],
    ];
    for (const [status, count] of rows) assert.equal(statesIn(status)?.length, count);
  });
});
