/** A slice of the sweep for `npm test`: of every scenario a few cases of every fault, always the same ones. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Case, isSeries } from "./case.ts";
import { runCase } from "./runner.ts";
import { scenarios } from "./scenarios.ts";
import { type PreparedScenario, prepare } from "./units.ts";

const perScenario = { whole: 36, part: 24, thin: 4, sparse: 2 } as const;

/** One case of every series, and this many of the lists, evenly spread. */
const slice = ({ batches }: PreparedScenario, many: number): readonly Case[] => {
  const all = batches.flatMap(({ batch }): readonly Case[] => (isSeries(batch) ? [batch.at(3)] : batch));
  const stride = Math.max(1, Math.floor(all.length / many));
  return all.filter((_, index) => index % stride === 0);
};

describe("a slice of the sweep", () => {
  for (const { name, what, breadth } of scenarios) {
    test(`${what}: a fault changes nothing`, async () => {
      const prepared = await prepare(name);
      assert.deepEqual(prepared.baseline.violations, []);
      for (const one of slice(prepared, perScenario[breadth])) {
        const { violations } = await runCase(prepared.fixture, prepared.baseline, one);
        assert.deepEqual(violations, [], one.id);
      }
    });
  }
});
