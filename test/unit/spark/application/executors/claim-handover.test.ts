/** Steps of a run whose executors have claims: the claims of executors that are gone are handed on. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../../shared/core/object.ts";
import { type Effect, wholeOf } from "../../../../../shared/core/plan.ts";
import { type Memory, relevant } from "../../../../../shared/spark/application/state/memory.ts";
import { newAllotment } from "../../../../../shared/spark/executors/allotment.ts";
import { waitIn } from "../../../../support/plans.ts";
import { application, asked, decided, driver, eight, pod, remembered, said, spec } from "../fixtures.ts";

const volume = "spark.kubernetes.executor.volumes.persistentVolumeClaim.data";
const sparkConf = {
  [`${volume}.mount.path`]: "/data",
  [`${volume}.options.claimName`]: "OnDemand",
  [`${volume}.options.storageClass`]: "fast",
  [`${volume}.options.sizeLimit`]: "1Gi",
};

const app = (confs: Readonly<Record<string, string>> = {}): Stored =>
  application({
    metadata: { annotations: { "rekindle.dev/executors": "own" } },
    spec: { ...spec, executor: { instances: 2, cores: 1, memory: "512m" }, sparkConf: { ...sparkConf, ...confs } },
    status: {
      applicationState: { state: "RUNNING" },
      submissionID: "submission-1",
      driverInfo: { podName: "spark-pi-driver", webUIServiceName: "ui" },
      executorState: { "p-exec-1001": "RUNNING", "p-exec-1002": "RUNNING" },
    },
  });

type Handed = Partial<NonNullable<Memory["allotment"]>>;

const memory = (object: Stored, handed: Handed = {}): Memory =>
  remembered({
    driver,
    spec: relevant(object, true),
    allotment: { ...newAllotment(1, "p", undefined), listens: true, next: 1003, alive: "1001-1002", ...handed },
  });

const mounting = (object: Stored, claimName: string): Stored => ({
  ...object,
  spec: { volumes: [{ name: "data", persistentVolumeClaim: { claimName } }] },
});

const executor = (id: number, exitCode?: number): Stored =>
  mounting(
    pod({
      ...{ role: "executor", owner: "driver-1", executor: id, name: `p-exec-${id}`, uid: `u-${id}` },
      ...(exitCode === undefined ? {} : { phase: "Failed", exitCode, finishedAt: "2026-11-02T07:59:59Z" }),
    }),
    `p-exec-${id}-pvc-0`,
  );

const claim = (id: number): Stored => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: {
    name: `p-exec-${id}-pvc-0`,
    namespace: "default",
    uid: `c000${id}-0000`,
    resourceVersion: "1",
    labels: { "spark-exec-id": `${id}` },
  },
  spec: {
    storageClassName: "fast",
    accessModes: ["ReadWriteOncePod"],
    resources: { requests: { storage: "1Gi" } },
  },
});

const claims = { persistentvolumeclaims: [claim(1001), claim(1002)] };
const ofRun = (effect: Effect): boolean => effect.do === "create" || effect.do === "delete";
const mountsOf = (effect: Effect | undefined): string =>
  effect?.do === "create" ? JSON.stringify(wholeOf(effect)["spec"]) : "";
const brief = (line: string): string => line.replace(/spark-pi-[0-9a-f]{16}/, "p").replace(" of attempt 1", "");

describe("a step of a run whose executors have claims", () => {
  test("creates the claims of new executors before their pods, each with its executor's id", () => {
    const object = app();
    const world = { object, memory: memory(object, { next: 1001, alive: "" }), pods: [pod()] };
    const { plan, looks } = decided(world);
    const made = plan.stages.flat().filter(ofRun);
    assert.deepEqual(
      made.map((effect) => brief(said(effect))),
      [
        "create persistentvolumeclaims p-exec-1001-pvc-0",
        "create persistentvolumeclaims p-exec-1002-pvc-0",
        "create pods p-exec-1001",
        "create pods p-exec-1002",
      ],
    );
    const ids = made.slice(0, 2).map((effect) => effect.do === "create" && wholeOf(effect).metadata.labels);
    assert.deepEqual(
      ids.map((labels) => (labels === false ? undefined : labels?.["spark-exec-id"])),
      ["1001", "1002"],
    );
    assert.equal(looks.map(asked).includes("list persistentvolumeclaims"), false);
  });

  test("hands the claim of an executor that is gone on to its replacement, and saves the claim's UID", () => {
    const object = app();
    const { plan, earlier } = decided({
      object,
      memory: memory(object),
      pods: [pod(), executor(1002)],
      others: claims,
    });
    const made = plan.stages.flat().filter(ofRun);
    assert.deepEqual(
      made.map((effect) => brief(said(effect))),
      ["create pods p-exec-1003"],
    );
    assert.match(mountsOf(made[0]), /"claimName":"p-exec-1001-pvc-0"/);
    assert.equal([...earlier, plan].at(-1)?.memory.allotment?.underway.at(-1)?.claims, "c0001001");
  });

  test("lists the claims again if the list lacks one that an executor mounts", () => {
    const object = app();
    const world = { object, memory: memory(object), pods: [pod(), executor(1002)] };
    const listed = (claims: readonly Stored[]): number => {
      const { looks } = decided({ ...world, others: { persistentvolumeclaims: claims } });
      return looks.map(asked).filter((look) => look === "list persistentvolumeclaims").length;
    };
    assert.deepEqual([listed([claim(1001), claim(1002)]), listed([claim(1001)])], [1, 2]);
  });

  test("hands no claim on that the driver mounts", () => {
    const object = app();
    const pods = [mounting(pod(), "p-exec-1001-pvc-0"), executor(1002)];
    const { plan } = decided({ object, memory: memory(object), pods, others: claims });
    const lines = plan.stages.flat().filter(ofRun).map(said).map(brief);
    assert.deepEqual(lines, ["create persistentvolumeclaims p-exec-1003-pvc-0", "create pods p-exec-1003"]);
  });

  test("waits for an ended executor's pod, and deletes it although its failure would be kept", () => {
    const object = app();
    const world = { object, pods: [pod(), executor(1001, 1), executor(1002)], others: claims };
    const { plan } = decided({ ...world, memory: memory(object) });
    const lines = plan.stages.flat().filter(ofRun).map(said).map(brief);
    assert.deepEqual(lines, ["delete pods p-exec-1001 if it is u-1001"]);
    assert.deepEqual(plan.memory.allotment?.awaited, { ids: "1001", until: eight + 10_000 });
    const { wakeAt, waitsFor } = waitIn(plan);
    assert.equal(wakeAt, eight + 10_000);
    assert.equal(waitsFor, "pods of ended executors to be deleted: their claims are handed on");
    const later = decided({ ...world, memory: plan.memory, now: eight + 10_000 });
    assert.ok(later.plan.stages.flat().map(said).map(brief).includes("create pods p-exec-1003"));
  });

  test("creates a new claim at once where claims are not to be used again", () => {
    const object = app({ "spark.kubernetes.driver.reusePersistentVolumeClaim": "false" });
    const world = { object, memory: memory(object), pods: [pod(), executor(1001, 1), executor(1002)], others: claims };
    const { plan } = decided(world);
    const lines = plan.stages.flat().filter(ofRun).map(said).map(brief);
    assert.deepEqual(lines, ["create persistentvolumeclaims p-exec-1003-pvc-0", "create pods p-exec-1003"]);
  });

  test("hands no claim on while a lost record may have done so", () => {
    const object = app();
    const own = { annotations: { "rekindle.dev/executors": "own" } };
    const kept = executor(1002);
    const pods = [pod(), { ...kept, metadata: { ...kept.metadata, ...own } }];
    const { allotment: _, ...lost } = memory(object);
    const { plan } = decided({ object, memory: lost, pods, others: claims });
    assert.equal(plan.memory.allotment?.claimsFrom, eight + 16_000);
  });

  const disputed: readonly {
    readonly what: string;
    readonly over?: string;
    readonly list: readonly Stored[];
    readonly again: readonly Stored[];
    readonly there?: readonly Stored[];
    readonly claim: string;
  }[] = [
    {
      what: "hands on the claim of an ended executor that only the first of two lists shows, and no read by name",
      list: [pod(), executor(1001), executor(1002)],
      again: [executor(1002)],
      claim: "p-exec-1001-pvc-0",
    },
    {
      what: "hands on the claim of an ended executor that only the second of two lists shows, and no read by name",
      list: [pod(), executor(1002)],
      again: [executor(1001), executor(1002)],
      claim: "p-exec-1001-pvc-0",
    },
    {
      what: "hands no claim on if a read by name finds the pod that only the second list shows",
      list: [pod(), executor(1002)],
      again: [executor(1001), executor(1002)],
      there: [executor(1001)],
      claim: "p-exec-1003-pvc-0",
    },
    {
      what: "hands no claim on if the record does not know the end of the executor that only the second list shows",
      over: "",
      list: [pod(), executor(1002)],
      again: [executor(1001), executor(1002)],
      claim: "p-exec-1003-pvc-0",
    },
  ];
  for (const { what, over = "1001", list, again, there = [], claim: name } of disputed)
    test(what, () => {
      const object = app();
      const known = { ...memory(object, { alive: "1002" }), executors: { attempt: 1, over } };
      const live = [pod(), executor(1002), ...there];
      const { plan } = decided({ object, memory: known, pods: list, again, live, others: claims });
      const made = plan.stages.flat().filter((effect) => effect.do === "create" && effect.resource.plural === "pods");
      assert.equal(made.length, 1);
      const [, mounted = ""] = /"claimName":"([^"]*)"/.exec(mountsOf(made[0])) ?? [];
      assert.equal(brief(mounted), name);
    });
});
