/** Executors by the flavors whose quota they use: where the next ones go, who is too many, and what is given back. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import type { Allotment, Member } from "../../../../shared/spark/executors/allotment.ts";
import {
  flavorsKey,
  flavorsNameOf,
  occupiedOn,
  overfullIn,
  roomIn,
} from "../../../../shared/spark/executors/flavors.ts";
import { growthOf, growthPlan } from "../../../../shared/spark/executors/growth.ts";

const member = (id: number, flavors = "", state: Member["state"] = "running"): Member => {
  const annotations = flavors === "" ? {} : { [flavorsKey]: flavors };
  const metadata = { name: `run-exec-${id}`, namespace: "jobs", uid: `uid-${id}`, resourceVersion: "1", annotations };
  return { id, state, createdAt: 0, pod: { apiVersion: "v1", kind: "Pod", metadata } };
};

const allotment = (...underway: Allotment["underway"]): Allotment => ({
  ...{ attempt: 1, prefix: "run", next: 1_010, alive: "" },
  underway,
});

/** A growth that was admitted, with its executors on nodes of these flavors. */
const growth = (name: string, count: number, flavors: Readonly<Record<string, string>>, evicted = false): Stored => ({
  ...{ apiVersion: "kueue.x-k8s.io/v1beta2", kind: "Workload" },
  metadata: { name, namespace: "jobs", uid: `uid-${name}`, resourceVersion: "7" },
  spec: { podSets: [{ name: "executor", count }] },
  status: {
    conditions: ["QuotaReserved", "Admitted", ...(evicted ? ["Evicted"] : [])].map((type) => ({
      type,
      status: "True",
    })),
    admission: { podSetAssignments: [{ name: "executor", count, flavors }] },
  },
});

const onSpot = { cpu: "spot", memory: "spot" };
const reserved = { cpu: "reserved", memory: "reserved" };

describe("executors of a base and its growths", () => {
  test("are counted by flavor, with those that leave and those on their way", () => {
    const members = [
      member(1001),
      member(1002, "spot"),
      member(1003, "spot", "ending"),
      member(1004, "spot", "failed"),
    ];
    const underway = allotment({ ids: "1005-1006", at: 0, flavors: "spot" }, { ids: "1007", at: 0 });
    assert.deepEqual([occupiedOn("", members, underway), occupiedOn("spot", members, underway)], [2, 4]);
  });

  test("are created on the base's nodes first, then on those of the first flavor with room", () => {
    const grants = { "": 2, spot: 2, reserved: 1 };
    const rooms = [[], [1001, 1002]].map((ids) =>
      roomIn(
        grants,
        ids.map((id) => member(id)),
        allotment(),
      ),
    );
    assert.deepEqual(rooms, [
      { flavors: "", executors: 2 },
      { flavors: "spot", executors: 2 },
    ]);
    const full = [member(1001), member(1002), member(1003, "spot"), member(1004, "spot", "ending")];
    assert.deepEqual(roomIn(grants, full, allotment()), { flavors: "reserved", executors: 1 });
    const underway = allotment({ ids: "1005", at: 0, flavors: "reserved" });
    assert.deepEqual(roomIn(grants, full, underway), { flavors: "", executors: 0 });
  });

  test("are too many on a flavor that grants fewer or none, also where others have room", () => {
    const members = [member(1001), member(1002, "spot")];
    assert.equal(overfullIn({ "": 4, spot: 1 }, members), undefined);
    assert.equal(overfullIn({ "": 4 }, members), "spot");
    assert.equal(overfullIn({ "": 4 }, [member(1001, "constructor")]), "constructor");
  });

  test("have one name for all flavors of their resources, which stays short", () => {
    const name = (flavors: Readonly<Record<string, string>>): string => flavorsNameOf(growth("g", 1, flavors));
    assert.equal(name({ cpu: "spot", memory: "spot", gpu: "a100" }), "a100,spot");
    assert.match(name({ cpu: "a".repeat(40), gpu: "b".repeat(40) }), /^[0-9a-f]{63}$/);
  });

  test("of a growth on the base's flavors are the base's equals; those of another flavor have its name", () => {
    const named = (flavors: Readonly<Record<string, string>>, base?: string): string =>
      growthOf(growth("g", 1, flavors), base).flavors;
    assert.deepEqual([named(onSpot, "spot"), named(reserved, "spot"), named(reserved)], ["", "reserved", ""]);
  });
});

describe("growths on several flavors", () => {
  const planned = (growths: readonly Stored[], wanted: number, living: Readonly<Record<string, number>>) =>
    growthPlan({
      ...{ growths: growths.map((one) => growthOf(one, "spot")), base: 2, wanted, running: 0, now: 0 },
      occupied: (flavors) => living[flavors] ?? 0,
    });

  test("are given back only on the flavor whose executors have left", () => {
    const both = [growth("a", 2, reserved), growth("b", 2, onSpot)];
    const named = (living: Readonly<Record<string, number>>): readonly string[] =>
      planned(both, 4, living).effects.flatMap((effect) =>
        "ref" in effect && effect.ref.name !== undefined ? [effect.ref.name] : [],
      );
    assert.deepEqual(named({ "": 4, reserved: 0 }), ["a"]);
    assert.deepEqual(named({ "": 2, reserved: 2 }), ["b"]);
    assert.deepEqual(named({ "": 4, reserved: 2 }), []);
  });

  test("release the quota of an evicted one when no executor is left on its flavor, whatever runs on others", () => {
    const evicted = [growth("a", 2, reserved, true)];
    const released = (living: Readonly<Record<string, number>>): number => planned(evicted, 4, living).effects.length;
    assert.deepEqual([released({ "": 0, reserved: 1 }), released({ "": 2, reserved: 0 })], [0, 1]);
  });
});
