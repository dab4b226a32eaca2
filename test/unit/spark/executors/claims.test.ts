/** Claims that are handed on from executors that are gone: which are free, what waits, and what a pod mounts. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Obj, Stored } from "../../../../shared/core/object.ts";
import { type Allotment, newAllotment } from "../../../../shared/spark/executors/allotment.ts";
import { claimPolicyOf } from "../../../../shared/spark/executors/claim-policy.ts";
import {
  handOn,
  handoverOf,
  labelled,
  longestHandoverMs,
  marksOf,
  withClaims,
} from "../../../../shared/spark/executors/claims.ts";
import { executor } from "./pods.ts";

const eight = Date.UTC(2026, 10, 2, 8);
const volume = (name: string, claimName = "OnDemand") => {
  const key = `spark.kubernetes.executor.volumes.persistentVolumeClaim.${name}.options`;
  return { [`${key}.claimName`]: claimName, [`${key}.storageClass`]: "fast", [`${key}.sizeLimit`]: "1Gi" };
};
const driverConf = (name: string) => `spark.kubernetes.driver.${name}PersistentVolumeClaim`;

describe("the confs of a run whose executors have claims", () => {
  const rows: readonly (readonly [why: string, confs: Record<string, string>, policy: unknown])[] = [
    ["hand claims on, as Spark's defaults", volume("a"), { each: 1, waits: false }],
    [
      "count the claims of one executor",
      { ...volume("a"), ...volume("b", "x-SPARK_EXECUTOR_ID") },
      { each: 2, waits: false },
    ],
    ["wait for claims", { ...volume("a"), [driverConf("waitToReuse")]: " True" }, { each: 1, waits: true }],
    ["turn it off", { ...volume("a"), [driverConf("reuse")]: "false" }, undefined],
    ["leave the claims to their executors", { ...volume("a"), [driverConf("own")]: "FALSE" }, undefined],
    ["name one claim for all executors", volume("a", "shared"), undefined],
    ["have no claims", { [driverConf("reuse")]: "true" }, undefined],
  ];
  for (const [why, confs, policy] of rows) test(why, () => assert.deepEqual(claimPolicyOf(confs), policy));
});

type ShortClaim = {
  readonly id?: number;
  readonly uid?: string;
  readonly size?: string;
  readonly kind?: string;
  readonly at?: number;
  readonly mode?: string;
  readonly phase?: string;
  readonly ending?: boolean;
};

const claim = ({ id = 1001, uid, size = "1Gi", kind = "fast", at = 0, ...more }: ShortClaim = {}): Stored => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: {
    name: `pi-exec-${id}-pvc-${at}`,
    namespace: "default",
    uid: uid ?? `c000${id}-0000`,
    resourceVersion: "1",
    labels: { "spark-exec-id": `${id}` },
    ...(more.ending === true ? { deletionTimestamp: "2026-11-02T07:59:59Z" } : {}),
  },
  spec: {
    storageClassName: kind,
    accessModes: [more.mode ?? "ReadWriteOncePod"],
    resources: { requests: { storage: size } },
  },
  status: { phase: more.phase ?? "Bound" },
});

const mounting = (pod: Stored, claimName: string): Stored => ({
  ...pod,
  spec: {
    volumes: [
      { name: "data", persistentVolumeClaim: { claimName } },
      { name: "tmp", emptyDir: {} },
    ],
  },
});

const allotment = (more: Partial<Allotment> = {}): Allotment => ({
  ...newAllotment(1, "pi", undefined),
  next: 1003,
  ...more,
});

const needs = {
  policy: { each: 1, waits: false },
  allotment: allotment(),
  expected: 2,
  short: 1,
  now: eight,
  deletes: true,
  isStuck: false,
};
const names = (claims: readonly Stored[]) => claims.map(({ metadata }) => metadata.name);

describe("a claim", () => {
  const round = { ids: "1001-1002", at: eight - 1_000 };
  const rows: readonly (readonly [why: string, is: "free" | "taken", claim: Stored, more?: Partial<typeof needs>])[] = [
    ["is free when no pod mounts it", "free", claim()],
    ["is not free while its pod is there", "taken", claim({ id: 1002 })],
    ["is not free while it is deleted", "taken", claim({ ending: true })],
    ["is not free without its volume", "taken", claim({ phase: "Lost" })],
    ["of no executor's is not free", "taken", { ...claim(), metadata: { ...claim().metadata, labels: {} } }],
    ["is not free while its executor is on its way", "taken", claim(), { allotment: allotment({ underway: [round] }) }],
    [
      "is not free while it was handed to an executor on its way",
      "taken",
      claim({ uid: "abcdef01-2345" }),
      { allotment: allotment({ underway: [{ ids: "1009", at: eight, claims: "00000000abcdef01" }] }) },
    ],
    [
      "is not free while a lost record may have handed it on",
      "taken",
      claim(),
      { allotment: allotment({ claimsFrom: eight + 1 }) },
    ],
    ["is not handed on after an executor that did not come up", "taken", claim(), { isStuck: true }],
  ];
  for (const [why, is, one, more] of rows)
    test(why, () => {
      const pods = [mounting(executor({ id: 1002 }), "pi-exec-1002-pvc-0")];
      const { free } = handoverOf({ claims: [one], pods }, { ...needs, ...more });
      assert.deepEqual(names(free), is === "free" ? [one.metadata.name] : []);
    });
});

describe("creations", () => {
  const ended = mounting(
    executor({ id: 1001, phase: "Failed", exit: 137, finishedAt: "2026-11-02T07:59:58Z" }),
    "pi-exec-1001-pvc-0",
  );
  const quit = mounting(
    executor({ id: 1002, phase: "Succeeded", exit: 0, finishedAt: "2026-11-02T07:59:58Z" }),
    "pi-exec-1002-pvc-0",
  );
  const deleted = (seconds: number): Stored => ({
    ...ended,
    metadata: { ...ended.metadata, deletionTimestamp: new Date(eight - seconds * 1_000).toISOString() },
  });
  const going = mounting(executor({ id: 1001, deletion: "2026-11-02T08:00:20Z" }), "pi-exec-1001-pvc-0");
  const claims = [claim(), claim({ id: 1002 })];
  type Row = readonly [
    why: string,
    pods: readonly Stored[],
    held: number,
    ofQuit: number,
    more?: Partial<typeof needs>,
  ];
  const rows: readonly Row[] = [
    ["wait for an ended executor's pod", [ended], 1, 0, { short: 2 }],
    ["do not wait where another claim is free", [ended], 0, 0],
    ["do not wait for the pod of a running process", [going], 0, 0, { short: 2 }],
    ["do not wait for a pod that users keep", [ended], 0, 0, { short: 2, deletes: false }],
    ["do not wait for a pod whose deletion lasts", [deleted(10)], 0, 0, { short: 2 }],
    ["wait for a pod that was just deleted", [deleted(9)], 1, 0, { short: 2 }],
    ["wait for pods that exited with 0, apart", [ended, quit], 1, 1, { short: 2 }],
    ["do not wait after an executor that did not come up", [ended, quit], 0, 0, { short: 2, isStuck: true }],
    [
      "do not wait any longer than ten seconds",
      [ended],
      0,
      0,
      { short: 2, allotment: allotment({ awaited: { ids: "1001", until: eight } }) },
    ],
    [
      "wait anew when no step looked at the end of the wait",
      [ended],
      1,
      0,
      { short: 2, allotment: allotment({ awaited: { ids: "1001", until: eight - 5_000 } }) },
    ],
    ["wait for one pod that two reads show", [ended, ended], 1, 0, { short: 2 }],
    [
      "wait for claims that only their pods show",
      [going, mounting(executor({ id: 1003 }), "pi-exec-1003-pvc-0")],
      1,
      0,
      { short: 2, expected: 3, policy: { each: 1, waits: true } },
    ],
    [
      "wait anew when another executor has ended",
      [ended, quit],
      1,
      1,
      { short: 2, allotment: allotment({ awaited: { ids: "1001", until: eight } }) },
    ],
    ["wait for as many claims as there are executors", [going], 1, 0, { short: 2, policy: { each: 1, waits: true } }],
    [
      "do not wait while there are fewer claims than executors",
      [going],
      0,
      0,
      { short: 2, expected: 3, policy: { each: 1, waits: true } },
    ],
  ];
  for (const [why, pods, held, heldOfQuit, more] of rows)
    test(why, () => {
      const found = handoverOf({ claims, pods }, { ...needs, ...more });
      assert.deepEqual([found.held, found.heldOfQuit], [held, heldOfQuit]);
    });

  test("remember the pods that they wait for, and until when", () => {
    const { awaited } = handoverOf({ claims, pods: [ended] }, { ...needs, short: 2 });
    assert.deepEqual(awaited, { ids: "1001", until: eight + longestHandoverMs });
    const later = { ...needs, short: 2, now: eight + 4_000, allotment: allotment({ awaited }) };
    assert.deepEqual(handoverOf({ claims, pods: [ended] }, later).awaited, awaited);
    assert.equal(handoverOf({ claims, pods: [] }, later).awaited, undefined);
  });
});

describe("an executor", () => {
  const own = [claim({ id: 1007, size: "1Gi" }), claim({ id: 1007, at: 1 })].map(
    ({ metadata: { name }, ...rest }): Obj => ({ ...rest, metadata: { name } }),
  );

  test("is handed claims of its class, size, mode and place of the volume, each once", () => {
    const free = [
      claim({ id: 1, kind: "slow" }),
      claim({ id: 2, size: "2Gi" }),
      claim({ id: 3, mode: "ReadWriteOnce" }),
      claim({ id: 4, size: "1024Mi" }),
      claim({ id: 5, at: 1 }),
      claim({ id: 6 }),
    ];
    const handed = handOn(free, own, 3);
    assert.deepEqual(
      handed.map((ones) => ones.map((one) => one?.metadata.name)),
      [
        ["pi-exec-4-pvc-0", "pi-exec-5-pvc-1"],
        ["pi-exec-6-pvc-0", undefined],
        [undefined, undefined],
      ],
    );
    assert.equal(marksOf(handed), "c0004000c0005000c0006000");
  });

  test("mounts what it was handed, and has its other claims created", () => {
    const pod = mounting(executor({ id: 1007 }), "pi-exec-1007-pvc-0");
    const given = withClaims({ pod, claims: own }, [claim({ id: 4 }), undefined]);
    assert.deepEqual(given.pod["spec"], mounting(pod, "pi-exec-4-pvc-0")["spec"]);
    assert.deepEqual(
      given.claims.map(({ metadata }) => metadata.name),
      ["pi-exec-1007-pvc-1"],
    );
    assert.deepEqual(withClaims({ pod, claims: own }, []), { pod, claims: own });
  });

  test("has its id on its claims", () => {
    const [first] = own;
    assert.ok(first !== undefined);
    assert.equal(labelled(first, "1007").metadata.labels?.["spark-exec-id"], "1007");
  });
});
