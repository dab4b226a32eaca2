/**
 * A run and its auxiliary objects: created before its driver or after it has started, reported, read only where they
 * were created, deleted with the run.
 */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../../shared/core/object.ts";
import { decide } from "../../../../../shared/spark/application/decide.ts";
import type { Options } from "../../../../../shared/spark/auxiliary-objects/options.ts";
import { resultOf } from "../../../../support/decisions.ts";
import { does, waitIn } from "../../../../support/plans.ts";
import {
  application,
  asked,
  decided,
  digested,
  driver,
  eight,
  key,
  pod,
  remembered,
  said,
  settings,
  spec,
} from "../fixtures.ts";

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

const ended = pod({ phase: "Succeeded", exitCode: 0, finishedAt: "2026-11-02T07:59:50Z" });

const completed = { phase: "COMPLETED" as const, endedAt: eight - 5_000 };

describe("a run and its auxiliary objects", () => {
  test("creates PodDisruptionBudget and PodGroup before its driver, and records rare kinds before that", () => {
    const { plan } = decided({ object: object(), options });
    assert.deepEqual(
      plan.stages.map((stage) => stage.filter(({ do: act }) => act === "create").map(said)),
      [
        [
          ...(plan.stages[0] ?? []).slice(0, 3).map(said),
          "create poddisruptionbudgets spark-pi-driver of attempt 1, if it can",
          "create podgroups spark-spark-pi-pg of attempt 1",
        ],
        ["create pods spark-pi-driver of attempt 1"],
        [],
      ],
    );
    assert.deepEqual([plan.safety?.fenced, plan.memory.rare], [true, ["driverPdb", "volcano"]]);
  });

  const service = { ...thing("Service", "spark-pi-ui-svc"), spec: { clusterIP: "10.96.0.9" } };
  const first = { object: object({ applicationState: { state: "SUBMITTED" } }), pods: [pod()], options };
  const submitted = { ...known, state: { phase: "SUBMITTED" as const } };

  test("has the UI service alone by default, and records no rare kind", () => {
    const { plan, before } = decided({ object: application(), memory: remembered({ driver }), pods: [pod()] });
    assert.deepEqual(
      [before.map(said), plan.memory.rare],
      [["create services spark-pi-ui-svc of attempt 1, if it can"], undefined],
    );
  });

  test("gets service and ingress when its driver first runs, and the UI's address in the same step's status", () => {
    const { plan, looks, before } = decided({ ...first, memory: remembered(submitted), services: [service] });
    assert.deepEqual(before.map(said), [
      "create services spark-pi-ui-svc of attempt 1, if it can",
      "create ingresses spark-pi-ui-ingress of attempt 1, if it can",
    ]);
    assert.deepEqual(looks.map(asked), ["list pods", "get services spark-pi-ui-svc"]);
    assert.deepEqual(plan.memory.rare, ["ingress"]);
    assert.deepEqual(plan.status?.["driverInfo"], {
      webUIServiceName: "spark-pi-ui-svc",
      webUIPort: 4040,
      webUIAddress: "10.96.0.9:4040",
      webUIIngressName: "spark-pi-ui-ingress",
      webUIIngressAddress: "http://spark-pi.x.org",
      podName: "spark-pi-driver",
    });
  });

  test("plans service and ingress with its whole memory, so that one save is enough", () => {
    const memory = remembered(submitted);
    const view = { object: first.object, uid: "app-1", memory, now: eight, refused: [] };
    const under = { ...settings, options: { ...settings.options, ...options } };
    const plan = resultOf(decide(under, key, view), { objects: () => [pod()] });
    const { plan: last } = decided({ ...first, memory, services: [service] });
    assert.deepEqual(
      [plan.memory, waitIn(plan).waitsFor, plan.status],
      [last.memory, waitIn(last).waitsFor, undefined],
    );
  });

  const shows = (state: string, submissionID = "submission-1") => object({ applicationState: { state }, submissionID });
  const doors: readonly { name: string; object: Stored; pods?: readonly Stored[]; want: number }[] = [
    { name: "are created for a driver that was never seen to run", object: shows("SUBMITTED"), pods: [ended], want: 2 },
    { name: "are created again if the status is still UNKNOWN", object: shows("UNKNOWN"), want: 2 },
    { name: "are created if the status is of another run", object: shows("RUNNING", "another"), want: 2 },
    { name: "are not created again once the status is RUNNING", object: shows("RUNNING"), want: 0 },
    { name: "wait until the driver runs", object: shows("SUBMITTED"), pods: [pod({ phase: "Pending" })], want: 0 },
  ];
  for (const { name, want, pods = [pod()], object } of doors) {
    test(`its service and ingress ${name}`, () => {
      const { before } = decided({ object, memory: remembered(submitted), pods, options });
      assert.equal(before.length, want);
    });
  }

  test("has no further reads once the status has the UI service, and keeps its driverInfo", () => {
    const driverInfo = { webUIServiceName: "spark-pi-ui-svc", podName: "spark-pi-driver" };
    const { plan, looks } = decided({
      object: object({ applicationState: { state: "RUNNING" }, submissionID: "submission-1", driverInfo }),
      memory: remembered(known),
      pods: [pod()],
      options,
    });
    assert.deepEqual([looks.map(asked), plan.status?.["driverInfo"]], [["list pods"], driverInfo]);
  });

  test("does not report a service of another owner", () => {
    const services = [thing("Service", "spark-pi-ui-svc", { ownerReferences: [] })];
    const { plan } = decided({ ...first, memory: remembered(known), services });
    assert.deepEqual(plan.status?.["driverInfo"], { podName: "spark-pi-driver" });
  });

  test("has its rare kinds listed at its cleanup only if they were created", () => {
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

  test("deletes the PodDisruptionBudget and the PodGroup, and leaves the ingress", () => {
    const others = { poddisruptionbudgets: [budget], podgroups: [thing("PodGroup", "spark-spark-pi-pg")] };
    const { plan, looks } = decided({ object: object(status), memory, options, others });
    assert.deepEqual(looks.map(asked), ["list pods", "list poddisruptionbudgets", "list podgroups"]);
    assert.deepEqual(plan.stages.flat().map(said), [
      "delete poddisruptionbudgets spark-pi-driver if it is spark-pi-driver-1",
      "delete podgroups spark-spark-pi-pg if it is spark-spark-pi-pg-1",
    ]);
    assert.deepEqual([does(plan, "again"), does(plan, "rest")], [true, undefined]);
  });

  test("rests when they are gone, and does not list them again", () => {
    const { plan } = decided({ object: object(status), memory, options });
    assert.deepEqual([plan.stages, does(plan, "rest"), plan.memory.rare], [[], true, ["ingress"]]);
    const later = decided({ object: object(plan.status), memory: plan.memory, options });
    assert.deepEqual([later.looks.map(asked), later.plan.memory], [["list pods"], plan.memory]);
  });

  test("waits for an object that is being deleted, and leaves foreign objects alone", () => {
    const held = { ...budget, metadata: { ...budget.metadata, deletionTimestamp: "2026-11-02T07:59:00Z" } };
    const others = { poddisruptionbudgets: [held], podgroups: [thing("PodGroup", "theirs", { ownerReferences: [] })] };
    const { plan } = decided({ object: object(status), memory, options, others });
    assert.deepEqual([plan.stages, waitIn(plan).pollMs, does(plan, "rest")], [[], 15_000, undefined]);
  });
});

describe("the deployment's default confs", () => {
  test("reach the submission below those of the application", () => {
    const { plan } = decided({
      object: application({ spec: { ...spec, sparkConf: { "spark.eventLog.dir": "s3a://own" } } }),
      options: { sparkDefaults: { "spark.eventLog.enabled": "true", "spark.eventLog.dir": "s3a://all" } },
    });
    const made = plan.stages.flat().flatMap((effect) => (effect.do === "create" ? [effect.object] : []));
    const properties = JSON.stringify(made.filter(({ kind }) => kind === "ConfigMap"));
    assert.match(properties, /spark\.eventLog\.enabled=true/);
    assert.match(properties, /spark\.eventLog\.dir=s3a\\*:\/\/own/);
    assert.doesNotMatch(properties, /\/\/all/);
  });

  test("do not count as a change of the spec", () => {
    const running = { object: application({ spec }), memory: remembered({ driver, state: { phase: "RUNNING" } }) };
    const { plan } = decided({ ...running, options: { sparkDefaults: { "spark.eventLog.enabled": "true" } } });
    assert.deepEqual(plan.stages, decided(running).plan.stages);
  });
});

describe("the deployment's time to live", () => {
  const status = { applicationState: { state: "COMPLETED" } };
  const cases: readonly { name: string; own: object; want: string | undefined }[] = [
    { name: "applies to an application without one", own: {}, want: "delete" },
    { name: "does not override the application's own", own: { timeToLiveSeconds: 3_600 }, want: undefined },
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
