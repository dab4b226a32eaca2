/**
 * A slice of the sweep for `npm test`, always the same one. Its scenarios are named below: every kind of object, and for
 * each family what is done to it most: completion, failure, deletion, losses, users' orders, damaged and foreign records,
 * updates, other controllers. Each scenario runs with one case of every sixth fault that the sweep puts it to, and of each
 * fault that no scenario before it had; with `--all` of every fault. So the slice has every fault of the catalogue.
 * `npm run sweep` runs all scenarios with all cases.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { everyNth } from "../../support/cases.ts";
import { type Case, isSeries } from "./case.ts";
import { deafness, deaths, fates, outages, pauses, troubles } from "./faults.ts";
import { sweptKinds, sweptOf } from "./kinds.ts";
import { runCase } from "./runner.ts";
import { type PreparedScenario, prepare, scenarioNamed } from "./units.ts";

const spark = [
  ...["completion", "retry", "connect", "replacement", "U12-deleted-at-birth", "stranger", "upgrade", "damaged"],
  ...["another-cluster", "own-loss-driver-again", "own-to-and-fro", "assist-machine-back-late", "U17-watch-gone"],
  ...["told", "beside-forged"],
];

const apache = ["apache-completion", "cluster-lost"];

const volcano = [
  ...["job-completion", "job-restart-pod", "job-suspend-resume", "job-gang-here", "job-drained", "job-deletion"],
  ...["job-damaged", "job-another-cluster", "job-told", "job-beside-lease", "hosted-job-completion"],
  ...["U19-slow-to-end", "flow-order", "cron-times", "cron-replace", "queue-close-open", "queue-family"],
];

/** The middle case of every fault; a series stands for its third case. */
const sliceOf = ({ batches }: PreparedScenario): readonly Case[] => {
  const all = batches.flatMap(({ batch }): readonly Case[] => (isSeries(batch) ? [batch.at(3)] : batch));
  return [...Map.groupBy(all, ({ family }) => family).values()].flatMap((cases) => cases[cases.length >> 1] ?? []);
};

describe("a slice of the sweep", () => {
  const faults = new Set<string>();
  const scenarios = [...spark, ...apache, ...volcano].map(scenarioNamed);

  for (const [at, { name, what }] of scenarios.entries()) {
    test(`${what}: a fault changes nothing`, async () => {
      const prepared = await prepare(name);
      assert.deepEqual(prepared.baseline.violations, []);
      const cases = sliceOf(prepared);
      const part = everyNth(6, cases, at);
      for (const one of cases.filter((one) => part.includes(one) || !faults.has(one.family))) {
        const { violations } = await runCase(prepared.fixture, prepared.baseline, one);
        assert.deepEqual(violations, [], one.id);
        faults.add(one.family);
      }
    });
  }

  test("every fault of the catalogue is in it, and every kind of object", () => {
    const catalogue = [...deaths, ...troubles, ...deafness, ...outages, ...fates, ...pauses].map(({ name }) => name);
    const others = ["stale", "gap", "deaf", "pair", "late", "windowed"];
    assert.deepEqual(
      [...catalogue, ...others].filter((name) => !faults.has(name)),
      [],
    );
    assert.deepEqual(
      sweptKinds.filter((kind) => !scenarios.some((scenario) => sweptOf(scenario).kind === kind)),
      [],
    );
  });
});
