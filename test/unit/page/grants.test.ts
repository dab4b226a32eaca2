/** Executors and the Workloads of Kueue whose quota they use. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { grantOfPods, grantText } from "../../../shared/page/grants.ts";
import type { Grant, Lane } from "../../../shared/page/wire.ts";

const lane = (id: number, given: Partial<Lane> = {}): Lane => ({
  ...{ pod: `exec-${id}`, role: "executor", id, attempt: 2, up: 0 },
  ...given,
});

const grant = (workload: string, executors: number, flavors = ""): Grant => ({
  ...{ workload, executors, flavors, isBase: workload === "base" },
});

const placesOf = (lanes: readonly Lane[], grants?: readonly Grant[]): object =>
  Object.fromEntries(grantOfPods({ lanes, ...(grants === undefined ? {} : { grants }) }));

test("the base counts the executors with the lowest ids, and the oldest growth the next", () => {
  const lanes = [lane(3), lane(1), lane(2), lane(4)];
  const grants = [grant("base", 1), grant("grow-a", 2), grant("grow-b", 5)];
  assert.deepEqual(placesOf(lanes, grants), { "exec-1": 0, "exec-2": 1, "exec-3": 1, "exec-4": 2 });
});

test("an executor on nodes of a flavor uses quota of a growth of that flavor alone", () => {
  const lanes = [lane(1, { flavors: "spot" }), lane(2), lane(3)];
  const grants = [grant("base", 1), grant("grow-a", 3, "spot")];
  assert.deepEqual(placesOf(lanes, grants), { "exec-1": 1, "exec-2": 0 });
});

test("executors that have ended or belong to earlier attempts, drivers, and executors of unknown Workloads have none", () => {
  const lanes = [lane(1, { end: 9 }), lane(2, { attempt: 1 }), lane(0, { role: "driver" }), lane(4)];
  assert.deepEqual(placesOf(lanes, [grant("base", 3)]), { "exec-4": 0 });
  assert.deepEqual(placesOf(lanes), {});
});

test("a Workload is named by its mark, its name and its number of executors", () => {
  assert.equal(grantText(grant("base", 2), 0), "W1 base, the base: 2");
  assert.equal(grantText(grant("etl-grow-1a2b3c4d", 3), 1), "W2 etl-grow-1a2b3c4d: 3");
});
