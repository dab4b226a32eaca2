/** The scenarios of the sweep, as data. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isPutTo } from "./cases.ts";
import { pairable } from "./doubles.ts";
import { scenarios } from "./scenarios.ts";

describe("scenarios of the sweep", () => {
  test("a scenario leaves out only faults that it would be put to, alone or in a pair", () => {
    const idle = scenarios.flatMap((scenario) =>
      (scenario.without ?? [])
        .filter((family) => !isPutTo(scenario, family) && !pairable.has(family))
        .map((family) => `${scenario.name}: ${family}`),
    );
    assert.deepEqual(idle, []);
  });
});
