/** Cases that end with the known continuation of another one, or fork from one, have the verdict that they would have had. */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { type Case, isSeries } from "./case.ts";
import { makingOf } from "./cases.ts";
import { type Forked, openContinuations } from "./continuations.ts";
import { doubleNamed } from "./doubles.ts";
import { expand } from "./expansion.ts";
import { runCase, type Verdict } from "./runner.ts";
import { type StateParts, stateParts } from "./state-digest.ts";
import { type PreparedScenario, prepare, sameVerdict } from "./units.ts";

/** Interleavings of the seed, whose states are often the same; and pairs of faults. */
const interleavings = 40;
const doubles = [2, 5, 9, 14].flatMap((gap) =>
  ["crash-before", "crash-after", "409", "410", "500", "503", "timeout", "pause-12s"].map(
    (second) => `completion/then/30/409/${gap}/${second}`,
  ),
);

/** Of the cases that begin with a fault, every so many are run whole, too. */
const everyFork = 23;

describe("known continuations", () => {
  let prepared: PreparedScenario;
  let cases: readonly Case[];
  const whole = new Map<string, Verdict>();

  before(async () => {
    prepared = await prepare("completion", { kind: "pairs", seed: 1 });
    const all = prepared.batches.map(({ batch }) => batch);
    const series = all.flatMap((batch) => (isSeries(batch) ? [batch.at(2), batch.at(7)] : []));
    const making = makingOf(prepared.baseline, prepared.fixture.scenario);
    const pairs = doubles.flatMap((id) => doubleNamed(making, id) ?? []);
    assert.equal(pairs.length, doubles.length);
    cases = [...series.slice(0, interleavings), ...pairs];
    for (const one of cases) whole.set(one.id, await runCase(prepared.fixture, prepared.baseline, one));
  });

  /** The cases that took a known continuation, up to the first whose verdict differs from that of its whole run. */
  const takenWith = async (parts: StateParts): Promise<{ taken: number; wrong?: string }> => {
    const continuations = openContinuations(parts);
    let taken = 0;
    for (const one of cases) {
      const verdict = await runCase(prepared.fixture, prepared.baseline, one, { continuations });
      if (verdict.recognised !== true) continue;
      taken += 1;
      if (!sameVerdict(verdict, whole.get(one.id))) return { taken, wrong: one.id };
    }
    return { taken };
  };

  test("a case that takes one has the verdict of its whole run", async () => {
    const { taken, wrong } = await takenWith(stateParts);
    assert.equal(wrong, undefined);
    assert.ok(taken >= cases.length / 10, `${taken} of ${cases.length} took one`);
  });

  test("where the state lacks the objects, the comparison shows it", async () => {
    const stored = new Set(["objects", "watches", "revision", "oracle", "identities"]);
    const parts = Object.fromEntries(Object.entries(stateParts).filter(([name]) => !stored.has(name)));
    assert.notEqual((await takenWith(parts)).wrong, undefined);
  });

  test("where the state lacks the deliveries to come, and when they are due, the comparison shows it", async () => {
    const { deliveries: _, due: __, ...parts } = stateParts;
    assert.notEqual((await takenWith(parts)).wrong, undefined);
  });

  test("a case that forks from the case of its first fault has the verdict of its whole run", async () => {
    const { fixture, baseline, continuations } = prepared;
    const beginning = doubleNamed(makingOf(baseline, fixture.scenario), "completion/then/30/409");
    assert.ok(beginning);
    const [forks, wrong]: [string[], string[]] = [[], []];
    let cases = 0;
    const judge = async (one: Case, forked: Forked | undefined, entire: Case): Promise<Verdict> => {
      const verdict = await runCase(fixture, baseline, one, { continuations, forked });
      cases += 1;
      if (forked === undefined || cases % everyFork > 0) return verdict;
      forks.push(one.id);
      if (!sameVerdict(verdict, await runCase(fixture, baseline, entire))) wrong.push(one.id);
      return verdict;
    };
    const isChosen = ({ third }: Case): boolean => third === undefined;
    await expand({ prepared, judge, told: () => true, isChosen }, beginning);
    assert.ok(forks.length > 5, `${forks.length} of ${cases} forked and were compared`);
    assert.deepEqual(wrong, []);
  });
});
