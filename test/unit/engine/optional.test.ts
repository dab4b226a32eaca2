/** Optional effects: done, skipped, or waited for. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ApiError } from "../../../shared/core/http.ts";
import type { Stored } from "../../../shared/core/object.ts";
import type { Effect } from "../../../shared/core/plan.ts";
import { apply, type Done } from "../../../shared/engine/cluster/apply.ts";
import { eight, type Fixture, failing, openFixture, part, parts } from "./fakes.ts";

const handsOf = ({ world: { cluster, clock } }: Fixture) => ({
  cluster,
  clock,
  until: Number.POSITIVE_INFINITY,
  now: eight,
});

const answering = (world: Fixture, call: string, ...errors: readonly ApiError[]): void => {
  const left = [...errors];
  world.before = (name) => {
    const error = name === call ? left.shift() : undefined;
    if (error !== undefined) throw error;
  };
};

const short = (done: Done): string => (done.did === "troubled" ? `troubled ${done.trouble.reason}` : done.did);

/** Two answers that deny an effect for one reason. */
const lasting = [
  {
    name: "is skipped if two answers forbid it",
    errors: [failing(403, "Forbidden"), failing(403, "Forbidden")],
    want: "passed",
  },
  {
    name: "is skipped if its kind is not served",
    errors: [failing(404, "NotFound"), failing(404, "NotFound")],
    want: "passed",
  },
] as const;

describe("an optional creation", () => {
  const wish: Effect = { do: "create", object: part("arm"), resource: parts, owner: "toy-1", optional: true };
  const cases: readonly { name: string; errors: readonly ApiError[]; want: string }[] = [
    { name: "is done where the server accepts it", errors: [], want: "done" },
    { name: "is requested again after a single denial", errors: [failing(403, "Forbidden")], want: "done" },
    {
      name: "is skipped if the server refuses it",
      errors: Array.from({ length: 4 }, () => failing(422, "Invalid")),
      want: "passed",
    },
    ...lasting,
    {
      name: "ends in trouble if two answers deny it for different reasons",
      errors: [failing(403, "Forbidden"), failing(404, "NotFound")],
      want: "troubled NotFound",
    },
    {
      name: "ends in trouble if the server is busy",
      errors: [failing(503, "ServiceUnavailable")],
      want: "troubled ServiceUnavailable",
    },
  ];
  for (const { name, errors, want } of cases) {
    test(name, async () => {
      const world = openFixture();
      answering(world, "create parts arm", ...errors);
      assert.equal(short(await apply(handsOf(world), wish)), want);
    });
  }

  test("is skipped if another owner's object has the name", async () => {
    const world = openFixture();
    world.put(part("arm", "toy-9"));
    assert.equal(short(await apply(handsOf(world), wish)), "passed");
  });
});

describe("an optional patch", () => {
  const wishOf = ({ metadata: { uid, resourceVersion } }: Stored): Effect => ({
    ...{ do: "patch", ref: { resource: parts, name: "arm", namespace: "ns" }, uid, resourceVersion },
    ...{ patch: { spec: {} }, optional: true },
  });
  const cases = [
    { name: "is sent again after a single denial", errors: [failing(403, "Forbidden")], want: "done" },
    { name: "is sent again if its object is missing once", errors: [failing(404, "NotFound")], want: "done" },
    ...lasting,
    {
      name: "ends in trouble if two answers deny it for different reasons",
      errors: [failing(404, "NotFound"), failing(403, "Forbidden")],
      want: "troubled Forbidden",
    },
    {
      name: "ends in trouble after a conflict, so that the step tries again",
      errors: [failing(409, "Conflict")],
      want: "troubled Conflict",
    },
  ];
  for (const { name, errors, want } of cases)
    test(name, async () => {
      const world = openFixture();
      const there = world.put(part("arm"));
      answering(world, "patch parts arm", ...errors);
      assert.equal(short(await apply(handsOf(world), wishOf(there))), want);
    });
});
