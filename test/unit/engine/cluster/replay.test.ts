/** Replays of recorded decisions: what counts as the same, and which difference is reported. */
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { list } from "../../../../shared/core/decision.ts";
import type { Operator } from "../../../../shared/core/operator.ts";
import type { DecisionRecording } from "../../../../shared/engine/cluster/queries.ts";
import { replay } from "../../../../shared/engine/cluster/replay.ts";
import { step } from "../../../../shared/engine/reconcile/step.ts";
import { creation, type Decide, message, openFixture, parts, type Toy } from "../fakes.ts";

const owned = { do: "list", resource: parts, namespace: "ns", labels: {} } as const;

function* counts({ memory }: { readonly memory: Toy | undefined }) {
  const found = yield* list(owned);
  return { memory: { count: (memory?.count ?? 0) + found.length + 1 }, stages: [[creation("paw")]] };
}

/** Records the decision of one step, as JSON, and returns it with the operator of a later version. */
const recorded = async (
  decide: Decide,
  later: Decide,
): Promise<{ readonly operator: Operator<unknown>; readonly recording: DecisionRecording }> => {
  const fixture = openFixture(decide);
  const kept: DecisionRecording[] = [];
  const recording = () => async (one: DecisionRecording | undefined) => {
    if (one !== undefined) kept.push(JSON.parse(JSON.stringify(one)));
  };
  await step({ ...fixture.world, recording }, message);
  fixture.decide = later;
  const [first] = kept;
  const operator = fixture.world.operatorOf("Toy");
  if (first === undefined || operator === undefined) throw new Error("nothing was recorded");
  return { operator, recording: first };
};

const differenceOf = async (later: Decide, change: (one: DecisionRecording) => DecisionRecording = (one) => one) => {
  const { operator, recording } = await recorded(counts, later);
  return replay(operator, change(recording));
};

test("a replay of the same version decides the same", async () => {
  equal(await differenceOf(counts), undefined);
});

test("a recording has the key, the queries with their answers, and the plan", async () => {
  const { recording } = await recorded(counts, counts);
  const { version, key, rounds, plan } = recording;
  deepEqual(
    { version, key, rounds, memory: plan.memory },
    {
      version: 1,
      key: { cluster: "here", kind: "Toy", namespace: "ns", name: "bear" },
      rounds: [{ queries: [owned], answers: [{ objects: [] }] }],
      memory: { count: 1 },
    },
  );
});

test("a replay reports another plan at its first differing field", async () => {
  const difference = await differenceOf(function* (view) {
    const plan = yield* counts(view);
    return { ...plan, memory: { count: 7 } };
  });
  deepEqual(difference, { path: "plan.memory.count", recorded: 1, replayed: 7 });
});

test("a replay reports another query, a missing query and an added query", async () => {
  const other = await differenceOf(function* ({ memory }) {
    yield* list({ ...owned, namespace: "elsewhere" });
    return { memory: memory ?? { count: 0 }, stages: [] };
  });
  deepEqual(other, { path: "rounds[0].queries[0].namespace", recorded: "ns", replayed: "elsewhere" });
  equal((await differenceOf(() => ({ memory: { count: 1 }, stages: [] })))?.path, "rounds[0]");
  const more = await differenceOf(function* (view) {
    const plan = yield* counts(view);
    yield* list(owned);
    return plan;
  });
  equal(more?.path, "rounds[1]");
});

test("a replay reports a memory that this version cannot parse, and an error of the decision", async () => {
  const unreadable = await differenceOf(counts, (one) => ({ ...one, view: { ...one.view, memory: "old" } }));
  deepEqual(unreadable, { path: "view.memory", recorded: "readable", replayed: "no toy's memory" });
  const failed = await differenceOf(() => {
    throw new Error("no such field");
  });
  deepEqual(failed, { path: "plan", recorded: "a plan", replayed: "no such field" });
});

test("a plan of more than a hundred creations is not recorded", async () => {
  const fixture = openFixture(() => ({
    memory: { count: 1 },
    stages: [Array.from({ length: 101 }, (_, at) => creation(`paw-${at}`))],
  }));
  const kept: unknown[] = [];
  await step({ ...fixture.world, recording: () => async (one) => void kept.push(one) }, message);
  deepEqual(kept, [undefined]);
});
