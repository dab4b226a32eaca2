/** A SparkConnect step by step: objects that are created, kept, created again, reported, and left alone. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { does, waitIn } from "../../../support/plans.ts";
import { connect, eight, executor, made, others, planned, type Spec, said, server, serverObjects } from "./fixtures.ts";

const ready = { phase: "Running", podIP: "10.0.0.7", conditions: [{ type: "Ready", status: "True" }] };
const starting = { phase: "Running", podIP: "10.0.0.7", conditions: [{ type: "Ready", status: "False" }] };
const evicted = { phase: "Failed", reason: "Evicted", message: "the node was low on memory" };

const conditionOf = (status: Spec | undefined): Spec => {
  const [first] = [status?.["conditions"] ?? []].flat();
  return Object(first);
};

describe("the objects of a SparkConnect", () => {
  test("have upstream's names, and the ConfigMap is created before the pod that mounts it", () => {
    const plan = planned();
    assert.deepEqual(said(plan), ["create configmaps sc-conf, create services sc-server", "create pods sc-server"]);
    assert.deepEqual(plan.status, {
      state: "NotReady",
      conditions: [
        {
          type: "ServerPodReady",
          status: "False",
          reason: "ServerPodNotReady",
          message: "Server pod is not ready: ",
          lastTransitionTime: "2026-11-02T08:00:00Z",
        },
      ],
      server: { podName: "sc-server", serviceName: "sc-server" },
      startTime: "2026-11-02T08:00:00Z",
      lastUpdateTime: "2026-11-02T08:00:00Z",
    });
  });

  test("have the SparkConnect as their controller", () => {
    for (const { metadata } of made())
      assert.deepEqual(metadata.ownerReferences, [
        {
          apiVersion: "sparkoperator.k8s.io/v1alpha1",
          kind: "SparkConnect",
          name: "sc",
          uid: "c-1",
          controller: true,
          blockOwnerDeletion: true,
        },
      ]);
  });

  test("lead to no effects and the state Ready when the server is ready", () => {
    const there = [...others(), server(ready), executor(1, "Running"), executor(2, "Running"), executor(3, "Pending")];
    const plan = planned({ there });
    const { state, server: shown, executors } = plan.status ?? {};
    assert.deepEqual(said(plan), []);
    assert.deepEqual(
      [state, shown, executors, conditionOf(plan.status)["status"], waitIn(plan).waitsFor],
      [
        "Ready",
        { podName: "sc-server", podIp: "10.0.0.7", serviceName: "sc-server" },
        { pending: 1, running: 2 },
        "True",
        "clients",
      ],
    );
  });

  test("keep the times of the status until its other fields change", () => {
    const there = [...others(), server(ready)];
    const first = planned({ there });
    const later = { there, now: eight + 60_000 };
    const quiet = planned({ ...later, object: connect({}, { status: first.status }) });
    assert.deepEqual(quiet.status, first.status);
    const less = planned({
      ...later,
      there: [...others(), server(starting)],
      object: connect({}, { status: first.status }),
    });
    const { startTime, lastUpdateTime } = less.status ?? {};
    assert.deepEqual(
      [startTime, lastUpdateTime, conditionOf(less.status)["lastTransitionTime"]],
      ["2026-11-02T08:00:00Z", "2026-11-02T08:01:00Z", "2026-11-02T08:01:00Z"],
    );
  });
});

describe("a lost or changed object of a SparkConnect", () => {
  const map = "create configmaps sc-conf";
  const rows: readonly {
    readonly what: string;
    readonly given: Parameters<typeof planned>[0];
    readonly want: readonly string[];
  }[] = [
    {
      what: "is created again if it is the ConfigMap",
      given: { there: [...others().slice(1), server(ready)] },
      want: [map],
    },
    {
      what: "is created again if it is the Service",
      given: { there: [...others().slice(0, 1), server(ready)] },
      want: ["create services sc-server"],
    },
    {
      what: "is created again at once if it is the server pod",
      given: { there: others() },
      want: ["create pods sc-server"],
    },
    {
      what: "is awaited if it is a server pod that is being deleted",
      given: { there: [...others(), server(ready, { deletionTimestamp: "2026-11-02T08:00:00Z" })] },
      want: [],
    },
    {
      what: "is deleted with an Event if it is a server pod that has ended",
      given: { there: [...others(), server(evicted)] },
      want: ["delete pods sc-server if it is uid-Pod", "tell SparkConnectServerEnded"],
    },
    {
      what: "is patched if the executors' template in the ConfigMap changed",
      given: {
        object: connect({ executor: { template: { spec: { nodeSelector: { a: "b" } } } } }),
        there: [...others(), server(ready)],
      },
      want: [
        'change configmaps sc-conf if it is uid-ConfigMap at 7: {"data":{"executor-pod-template.yaml":"{\\"spec\\":{\\"nodeSelector\\":{\\"a\\":\\"b\\"}}}\\n"}}',
      ],
    },
    {
      what: "is patched if its label was removed",
      given: {
        there: [
          ...others()
            .map((one) => ({ ...one, metadata: { ...one.metadata, labels: { mine: "x" } } }))
            .slice(0, 1),
          ...others().slice(1),
          server(ready),
        ],
      },
      want: [
        'change configmaps sc-conf if it is uid-ConfigMap at 7: {"metadata":{"labels":{"sparkoperator.k8s.io/created-by-spark-operator":"true","sparkoperator.k8s.io/connect-name":"sc"}}}',
      ],
    },
    {
      what: "is created but never patched if a foreign object has its name, so that the API server refuses it",
      given: {
        there: [...others(), server(evicted)].map((one) => ({
          ...one,
          metadata: { ...one.metadata, ownerReferences: [] },
        })),
      },
      want: [`${map}, create services sc-server`, "create pods sc-server"],
    },
  ];
  for (const { what, given, want } of rows) test(what, () => assert.deepEqual(said(planned(given)), want));
});

describe("a server pod that ends repeatedly", () => {
  const waits: readonly (readonly [ends: number, seconds: number])[] = [
    [0, 5],
    [1, 10],
    [5, 160],
    [6, 300],
    [40, 300],
  ];
  for (const [ends, seconds] of waits) {
    test(`is created again after ${seconds} s at its end ${ends + 1}`, () => {
      const ended = planned({ memory: { ends }, there: [...others(), server(evicted)] });
      const retryAt = eight + seconds * 1_000;
      assert.deepEqual([ended.memory, waitIn(ended).wakeAt], [{ ends: ends + 1, retryAt }, retryAt]);
      const early = planned({ memory: ended.memory, there: others(), now: retryAt - 1_000 });
      assert.deepEqual([said(early), waitIn(early).wakeAt], [[], retryAt]);
      const due = planned({ memory: ended.memory, there: others(), now: retryAt });
      assert.deepEqual([said(due), due.memory], [["create pods sc-server"], { ends: ends + 1 }]);
    });
  }

  test("has its count of ends reset once it has been ready", () => {
    assert.deepEqual(planned({ memory: { ends: 4 }, there: [...others(), server(ready)] }).memory, { ends: 0 });
    assert.deepEqual(planned({ memory: { ends: 4 }, there: [...others(), server(starting)] }).memory, { ends: 4 });
  });
});

describe("a SparkConnect that cannot run", () => {
  test("reports a refusal in its status and tries again after a minute", () => {
    const [effect] = planned().stages.flat();
    assert.ok(effect);
    const refused = [{ effect, status: 409, reason: "NameTaken", message: "configmaps ns/sc-conf exists" }];
    const plan = planned({ refused });
    assert.deepEqual([said(plan), waitIn(plan).pollMs, plan.status?.["state"]], [[], 60_000, "NotReady"]);
    assert.equal(conditionOf(plan.status)["message"], "configmaps ns/sc-conf exists");
  });

  const wrong: readonly (readonly [what: string, spec: Spec, message: RegExp])[] = [
    [
      "no image",
      { image: undefined },
      /^image is not specified: set spec.image, or one in spec.server.template; image/,
    ],
    ["an empty image", { image: "" }, /^image is not specified/],
    ["no server", { server: undefined }, /^spec.server is missing/],
    ["negative instances", { executor: { instances: -1 } }, /^spec.executor.instances must be at least 0/],
    ["a memory that Spark cannot read", { server: { memory: "lots" } }, /^spec.server.memory: "lots" is not a size/],
    ["a conf that is a number", { sparkConf: { a: 1 } }, /^spec.sparkConf.a must be a string, not a number/],
  ];
  for (const [what, spec, message] of wrong) {
    test(`reports ${what} in its status and leaves its objects alone; a corrected spec runs`, () => {
      const plan = planned({ object: connect(spec), there: serverObjects() });
      assert.deepEqual([said(plan), plan.status?.["state"], does(plan, "rest")], [[], "Failed", true]);
      assert.match(String(conditionOf(plan.status)["message"]), message);
      const mended = planned({ object: connect({}, { status: plan.status }), there: [...others(), server(ready)] });
      assert.equal(mended.status?.["state"], "Ready");
    });
  }

  test("reports a name that no service can have", () => {
    const object = connect({}, { metadata: { ...connect().metadata, name: "n".repeat(57) } });
    assert.match(String(conditionOf(planned({ object }).status)["message"]), /57 characters long/);
  });
});

describe("the end of a SparkConnect", () => {
  test("leads to no effects, as its objects are garbage-collected by their owner", () => {
    const plan = planned({ object: undefined });
    assert.deepEqual([said(plan), does(plan, "forget")], [[], true]);
  });

  test("leads to no creation while it is being deleted", () => {
    const metadata = { ...connect().metadata, deletionTimestamp: "2026-11-02T08:00:00Z" };
    const plan = planned({ object: connect({}, { metadata }) });
    assert.deepEqual([said(plan), plan.status], [[], undefined]);
  });
});

test("a changed spec of a running SparkConnect stands in waitsFor, and the server pod stays", () => {
  const plan = planned({ object: connect({ image: "spark:4.1.2" }), there: [...others(), server(ready)] });
  assert.deepEqual(
    [said(plan), waitIn(plan).waitsFor],
    [[], "pod sc-server to be deleted by a user: the spec has changed since it was created"],
  );
});
