/** Cases that end with the known continuation of another one have the verdict that they would have had. */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { type Case, isSeries } from "./case.ts";
import { openContinuations } from "./continuations.ts";
import { runCase, type Verdict } from "./runner.ts";
import { type StateParts, stateParts } from "./state-digest.ts";
import { type PreparedScenario, prepare, sameVerdict } from "./units.ts";

/** Of the cases of the seed so many: first interleavings, whose states are often the same, then pairs of faults. */
const [interleavings, doubles, step] = [40, 40, 60];

describe("known continuations", () => {
  let prepared: PreparedScenario;
  let cases: readonly Case[];
  const whole = new Map<string, Verdict>();

  before(async () => {
    prepared = await prepare("completion", { kind: "pairs", seed: 1 });
    const all = prepared.batches.map(({ batch }) => batch);
    const series = all.flatMap((batch) => (isSeries(batch) ? [batch.at(2), batch.at(7)] : []));
    const pairs = all.flatMap((batch) => (isSeries(batch) ? [] : batch)).filter((_, index) => index % step === 0);
    cases = [...series.slice(0, interleavings), ...pairs.slice(0, doubles)];
    for (const one of cases) whole.set(one.id, await runCase(prepared.fixture, prepared.baseline, one));
  });

  /** The cases that took a known continuation, and of them those whose verdict differs from that of the whole run. */
  const takenWith = async (parts: StateParts): Promise<{ taken: number; wrong: number }> => {
    const continuations = openContinuations(parts);
    let [taken, wrong] = [0, 0];
    for (const one of cases) {
      const verdict = await runCase(prepared.fixture, prepared.baseline, one, { continuations });
      if (verdict.recognised !== true) continue;
      taken += 1;
      if (!sameVerdict(verdict, whole.get(one.id))) wrong += 1;
    }
    return { taken, wrong };
  };

  test("a case that takes one has the verdict of its whole run", async () => {
    const { taken, wrong } = await takenWith(stateParts);
    assert.ok(taken >= cases.length / 10, `${taken} of ${cases.length} took one`);
    assert.equal(wrong, 0);
  });

  test("where the state lacks the objects, the comparison shows it", async () => {
    const stored = new Set(["objects", "watches", "revision", "oracle", "identities"]);
    const parts = Object.fromEntries(Object.entries(stateParts).filter(([name]) => !stored.has(name)));
    assert.notEqual((await takenWith(parts)).wrong, 0);
  });

  test("where the state lacks the deliveries to come, and when they are due, the comparison shows it", async () => {
    const { deliveries: _, due: __, ...parts } = stateParts;
    assert.notEqual((await takenWith(parts)).wrong, 0);
  });
});
