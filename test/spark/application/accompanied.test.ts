/** A run and what goes with it: made before its driver, told when it runs, looked for only where it was made, ended with it. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../shared/core/object.ts";
import type { Options } from "../../../shared/spark/companions/options.ts";
import { application, asked, decided, digested, driver, eight, pod, remembered, said, spec } from "./scenes.ts";

const whole = { ...spec, driverPodDisruptionBudget: true, batchScheduler: "volcano" };
const options: Partial<Options> = {
  driverPdb: true,
  batchScheduler: true,
  ingressUrlFormat: "{{$appName}}.x.org",
};
const everything = ["ingress", "driverPdb", "volcano"] as const;
const object = (status?: unknown) => application({ spec: whole, ...(status === undefined ? {} : { status }) });
const known = { spec: digested(whole), driver };

const thing = (kind: string, name: string, more: object = {}): Stored => ({
  apiVersion: "v1",
  kind,
  metadata: {
    name,
    namespace: "default",
    uid: `${name}-1`,
    resourceVersion: "1",
    ownerReferences: [{ apiVersion: "v1", kind: "SparkApplication", name: "spark-pi", uid: "app-1" }],
    ...more,
  },
});

const completed = { phase: "COMPLETED" as const, endedAt: eight - 5_000 };

describe("a run and what goes with it", () => {
  test("is made before the driver; kinds that are rare are remembered before any of them is there", () => {
    const { plan } = decided({ object: object(), options });
    assert.deepEqual(
      plan.stages.map((stage) => stage.filter(({ do: act }) => act === "create").map(said)),
      [
        [
          ...(plan.stages[0] ?? []).slice(0, 3).map(said),
          "create services spark-pi-ui-svc, if it can",
          "create ingresses spark-pi-ui-ingress, if it can",
          "create poddisruptionbudgets spark-pi-driver, if it can",
          "create podgroups spark-spark-pi-pg",
        ],
        ["create pods spark-pi-driver of attempt 1"],
        [],
      ],
    );
    assert.deepEqual([plan.fenced, plan.memory.rare], [true, ["driverPdb", "ingress", "volcano"]]);
  });

  test("of an application that asks for nothing is a service, and nothing is remembered", () => {
    assert.equal(decided({ object: application() }).plan.memory.rare, undefined);
  });

  test("tells the address of the UI when the driver first runs", () => {
    const services = [{ ...thing("Service", "spark-pi-ui-svc"), spec: { clusterIP: "10.96.0.9" } }];
    const { plan, looks } = decided({
      object: object({ applicationState: { state: "SUBMITTED" } }),
      memory: remembered(known),
      pods: [pod()],
      services,
      options,
    });
    assert.deepEqual(looks.map(asked), ["list pods", "get services spark-pi-ui-svc"]);
    assert.deepEqual(plan.status?.["driverInfo"], {
      webUIServiceName: "spark-pi-ui-svc",
      webUIPort: 4040,
      webUIAddress: "10.96.0.9:4040",
      webUIIngressName: "spark-pi-ui-ingress",
      webUIIngressAddress: "http://spark-pi.x.org",
      podName: "spark-pi-driver",
    });
  });

  test("asks no more once it is told, and keeps what was told", () => {
    const driverInfo = { webUIServiceName: "spark-pi-ui-svc", podName: "spark-pi-driver" };
    const { plan, looks } = decided({
      object: object({ applicationState: { state: "RUNNING" }, submissionID: "submission-1", driverInfo }),
      memory: remembered(known),
      pods: [pod()],
      options,
    });
    assert.deepEqual([looks.map(asked), plan.status?.["driverInfo"]], [["list pods"], driverInfo]);
  });

  test("says nothing of a service that is not its own", () => {
    const services = [thing("Service", "spark-pi-ui-svc", { ownerReferences: [] })];
    const { plan } = decided({ object: object(), memory: remembered(known), pods: [pod()], services, options });
    assert.deepEqual(plan.status?.["driverInfo"], { podName: "spark-pi-driver" });
  });

  test("is looked for in full when the run is cleared away, and its rare kinds only where they were made", () => {
    const memory = remembered({ spec: digested(whole), state: { phase: "PENDING_RERUN" } });
    const plain = decided({ object: object(), memory, options }).looks.map(asked);
    assert.ok(!plain.includes("list ingresses"));
    const others = { ingresses: [thing("Ingress", "spark-pi-ui-ingress")] };
    const { plan, looks } = decided({
      object: object(),
      memory: { ...memory, rare: [...everything] },
      options,
      others,
    });
    assert.ok(looks.map(asked).includes("list ingresses"));
    assert.deepEqual(plan.stages.flat().map(said), [
      "delete ingresses spark-pi-ui-ingress if it is spark-pi-ui-ingress-1",
    ]);
  });
});

describe("the end of a run", () => {
  const memory = remembered({ ...known, state: completed, rare: [...everything] });
  const status = { applicationState: { state: "COMPLETED" } };
  const budget = thing("PodDisruptionBudget", "spark-pi-driver");

  test("ends what holds capacity or drains back, and leaves the ingress", () => {
    const others = { poddisruptionbudgets: [budget], podgroups: [thing("PodGroup", "spark-spark-pi-pg")] };
    const { plan, looks } = decided({ object: object(status), memory, options, others });
    assert.deepEqual(looks.map(asked), ["list pods", "list poddisruptionbudgets", "list podgroups"]);
    assert.deepEqual(plan.stages.flat().map(said), [
      "delete poddisruptionbudgets spark-pi-driver if it is spark-pi-driver-1",
      "delete podgroups spark-spark-pi-pg if it is spark-spark-pi-pg-1",
    ]);
    assert.deepEqual([plan.again, plan.rests], [true, undefined]);
  });

  test("rests when they are gone, and never asks again", () => {
    const { plan } = decided({ object: object(status), memory, options });
    assert.deepEqual([plan.stages, plan.rests, plan.memory.rare], [[], true, ["ingress"]]);
    const later = decided({ object: object(plan.status), memory: plan.memory, options });
    assert.deepEqual([later.looks.map(asked), later.plan.memory], [["list pods"], plan.memory]);
  });

  test("waits for one that is held, and touches no stranger's", () => {
    const held = { ...budget, metadata: { ...budget.metadata, deletionTimestamp: "2026-11-02T07:59:00Z" } };
    const others = { poddisruptionbudgets: [held], podgroups: [thing("PodGroup", "theirs", { ownerReferences: [] })] };
    const { plan } = decided({ object: object(status), memory, options, others });
    assert.deepEqual([plan.stages, plan.pollMs, plan.rests], [[], 15_000, undefined]);
  });
});

describe("the deployment's time to live", () => {
  const status = { applicationState: { state: "COMPLETED" } };
  const cases: readonly { name: string; own: object; want: string | undefined }[] = [
    { name: "holds where the application says nothing", own: {}, want: "delete" },
    { name: "gives way to the application's own", own: { timeToLiveSeconds: 3_600 }, want: undefined },
  ];
  for (const { name, own, want } of cases) {
    test(name, () => {
      const memory = remembered({ driver, state: completed });
      const { plan } = decided({
        object: application({ spec: { ...spec, ...own }, status }),
        memory,
        options: { defaultTimeToLiveSeconds: 5 },
      });
      assert.equal(plan.stages.flat().at(-1)?.do, want);
    });
  }
});
