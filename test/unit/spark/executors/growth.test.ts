/** Decisions about growths: what is asked of Kueue, resized, given back, and released, from the Workloads as they are. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import { totalOf } from "../../../../shared/spark/executors/grants.ts";
import { grantedBy, growthCreation, growthOf, growthPlan } from "../../../../shared/spark/executors/growth.ts";
import { said } from "../application/fixtures.ts";

type Fields = Readonly<Record<string, unknown>>;

const now = Date.UTC(2026, 10, 2, 8);

const condition = (type: string, status = "True") => ({ type, status, reason: "Because", message: "" });

const admitted = (count: number) => ({
  conditions: [condition("QuotaReserved"), condition("Admitted")],
  admission: { podSetAssignments: [{ name: "executor", count }] },
});

const workload = (name: string, count: number, status: Fields = {}, more: Fields = {}): Stored => ({
  ...{ apiVersion: "kueue.x-k8s.io/v1beta2", kind: "Workload" },
  metadata: {
    ...{ name, namespace: "jobs", uid: `uid-${name}`, resourceVersion: "7" },
    creationTimestamp: `2026-11-02T07:00:0${name.at(-1)}Z`,
    ...Object(more["metadata"]),
  },
  spec: { podSets: [{ name: "executor", count, minCount: 1 }], ...Object(more["spec"]) },
  status,
});

const evicting = (count: number) => ({
  ...admitted(count),
  conditions: [...admitted(count).conditions, condition("Evicted")],
});

const deactivated = { spec: { active: false } };
const finished = { ...admitted(4), conditions: [...admitted(4).conditions, condition("Finished")] };
const deleted = { metadata: { deletionTimestamp: "2026-11-02T07:30:00Z" } };

type Row = {
  readonly what: string;
  readonly there: readonly Stored[];
  readonly wanted: number;
  readonly occupied: number;
  readonly running?: number;
  readonly granted?: number;
  readonly asks?: number;
  readonly does?: readonly string[];
};

const patch = (name: string, fields: object): string => `${name} ${JSON.stringify(fields)}`;
const resized = (name: string, count: number): string =>
  patch(name, { spec: { podSets: [{ name: "executor", count, minCount: 1 }] } });
const reclaimed = (name: string, count: number): string =>
  patch(name, { reclaimablePods: [{ name: "executor", count }] });

/** The base of each row is two executors. */
const rows: readonly Row[] = [
  { what: "asks for what the base does not grant", there: [], wanted: 6, occupied: 2, asks: 4 },
  { what: "asks for nothing within the base", there: [], wanted: 1, occupied: 2 },
  { what: "asks for no second growth while one waits", there: [workload("g1", 4)], wanted: 6, occupied: 2 },
  {
    what: "resizes the growth that waits",
    there: [workload("g1", 4)],
    ...{ wanted: 9, occupied: 2, does: [resized("g1", 7)] },
  },
  {
    what: "does not resize a growth with reserved quota, whose checks are open",
    there: [workload("g1", 4, { ...admitted(4), conditions: [condition("QuotaReserved")] })],
    ...{ wanted: 9, occupied: 2 },
  },
  {
    what: "deletes the growth that waits when its need has gone",
    there: [workload("g1", 4)],
    ...{ wanted: 2, occupied: 2, does: ["delete g1"] },
  },
  {
    what: "keeps the older of two growths that wait",
    there: [workload("g2", 4), workload("g1", 4)],
    ...{ wanted: 6, occupied: 2, does: ["delete g2"] },
  },
  {
    what: "leaves a deactivated growth alone, and asks for no other",
    there: [workload("g1", 4, {}, deactivated)],
    ...{ wanted: 9, occupied: 2 },
  },
  {
    what: "asks for the rest where a growth was admitted in part",
    there: [workload("g1", 4, admitted(3))],
    ...{ wanted: 6, occupied: 2, granted: 3, asks: 1 },
  },
  {
    what: "keeps a growth whose executors are wanted, or still there",
    there: [workload("g1", 4, admitted(4))],
    ...{ wanted: 1, occupied: 6, granted: 4 },
  },
  {
    what: "gives back whole growths, the newest first, and a part of one",
    there: [workload("g1", 4, admitted(4)), workload("g2", 2, admitted(2))],
    ...{ wanted: 1, occupied: 5, granted: 6, does: ["delete g2", reclaimed("g1", 1)] },
  },
  {
    what: "adds to what a growth has given back, which Kueue lets only grow",
    there: [workload("g1", 4, { ...admitted(4), reclaimablePods: [{ name: "executor", count: 1 }] })],
    ...{ wanted: 1, occupied: 4, granted: 3, does: [reclaimed("g1", 2)] },
  },
  {
    what: "keeps the quota of an evicted growth while its executors are there, and asks for no other",
    there: [workload("g1", 4, evicting(4))],
    ...{ wanted: 6, occupied: 6 },
  },
  {
    what: "takes a deactivated growth for evicted",
    there: [workload("g1", 4, admitted(4), deactivated)],
    ...{ wanted: 6, occupied: 6 },
  },
  {
    what: "deletes a finished growth",
    there: [workload("g1", 4, finished)],
    wanted: 2,
    occupied: 2,
    does: ["delete g1"],
  },
  {
    what: "asks again where a growth is being deleted",
    there: [workload("g1", 4, admitted(4), deleted)],
    wanted: 4,
    occupied: 2,
    asks: 2,
  },
];

const brief = (effect: ReturnType<typeof growthPlan>["effects"][number]): string =>
  effect.do === "patch"
    ? patch(effect.ref.name, effect.patch)
    : `${effect.do} ${"ref" in effect ? effect.ref.name : ""}`;

describe("a run with growths", () => {
  for (const { what, there, wanted, occupied, running = 0, granted = 0, asks = 0, does = [] } of rows)
    test(what, () => {
      const growths = there.map((one) => growthOf(one, undefined));
      const plan = growthPlan({ growths, base: 2, wanted, occupied: () => occupied, running, now });
      assert.deepEqual(
        { granted: totalOf(grantedBy(growths)), asks: plan.asks, does: plan.effects.map(brief) },
        { granted, asks, does },
      );
    });

  test("gives the quota of an evicted growth back when its executors have ended, in one write of its status", () => {
    const growths = [growthOf(workload("g1", 4, evicting(4)), undefined)];
    const { effects } = growthPlan({ growths, base: 2, wanted: 6, occupied: () => 2, running: 2, now });
    const [effect] = effects;
    assert.ok(effect?.do === "patch" && effect.subresource === "status" && effects.length === 1);
    assert.equal(effect.patch["admission"], null);
    assert.equal(effect.resourceVersion, "7");
    const conditions = JSON.stringify(effect.patch["conditions"]);
    assert.match(conditions, /"type":"QuotaReserved","status":"False"/);
    assert.match(conditions, /"type":"Admitted","status":"False"/);
  });

  test("says once of its admitted growths that their executors are ready, when none lacks that is wanted and granted", () => {
    const saysReady = (one: Stored, { wanted = 6, running = 6, base = 2 } = {}): boolean => {
      const growths = [growthOf(one, undefined)];
      const { effects } = growthPlan({ growths, base, wanted, running, occupied: () => 6, now });
      return effects.some(
        (effect) =>
          effect.do === "patch" &&
          effect.subresource === "status" &&
          /"type":"PodsReady","status":"True"/.test(JSON.stringify(effect.patch)),
      );
    };
    const growth = workload("g1", 4, admitted(4));
    assert.equal(saysReady(growth), true);
    assert.equal(saysReady(growth, { running: 5 }), false);
    assert.equal(saysReady(growth, { running: 5, wanted: 5 }), true, "more is granted than wanted");
    assert.equal(saysReady(growth, { running: 6, wanted: 9 }), true, "more is wanted than granted");
    assert.equal(saysReady(growth, { running: 2, wanted: 0 }), true, "the base is wanted always");
    assert.equal(saysReady(growth, { running: 1, wanted: 0 }), false);
    const ready = { ...admitted(4), conditions: [...admitted(4).conditions, condition("PodsReady")] };
    assert.equal(saysReady(workload("g1", 4, ready)), false);
    assert.equal(saysReady(workload("g1", 4)), false, "it waits");
  });

  test("creates a growth under a name that no growth has, ranked as the application's Workload, which is its owner", () => {
    const run = { name: "app", namespace: "jobs", uid: "u-1", attempt: 1, labels: { a: "b" } };
    const own = workload("own", 1, {}, { spec: { priority: 7, priorityClassRef: { name: "high" } } });
    const owner = { apiVersion: "kueue.x-k8s.io/v1beta2", kind: "Workload", name: "own", uid: own.metadata.uid };
    const asked = { queue: "team-a", executors: 3, own, spec: { containers: [] } };
    const first = growthCreation(run, { growths: [], ...asked });
    assert.ok(first?.do === "create");
    assert.equal(said(first).includes(first.object.metadata.name), true);
    assert.deepEqual(first.object.metadata.ownerReferences, [owner]);
    assert.deepEqual(first.object["spec"], {
      queueName: "team-a",
      podSets: [{ name: "executor", count: 3, minCount: 1, template: { spec: { containers: [] } } }],
      ...{ priority: 7, priorityClassRef: { name: "high" } },
    });
    const there = {
      ...workload("g1", 3),
      metadata: { ...workload("g1", 3).metadata, name: first.object.metadata.name },
    };
    const second = growthCreation(run, { growths: [growthOf(there, undefined)], ...asked });
    assert.ok(second?.do === "create");
    assert.notEqual(second.object.metadata.name, first.object.metadata.name);
    assert.match(second.object.metadata.name, /^app-grow-[0-9a-f]{8}$/);
  });
});
