/** Recorded answers of a real API server, which the simulator must repeat. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { simulatorApi } from "../../proof/conformance/apis.ts";
import { compare, holds, textOf } from "../../proof/conformance/compare.ts";
import { linesOf, readRecord } from "../../proof/conformance/record.ts";
import { transcript } from "../../proof/conformance/scenario.ts";
import { scenarios } from "../../proof/conformance/scenarios.ts";
import { openServer } from "../../proof/conformance/server.ts";

const record = readRecord();

for (const scenario of scenarios)
  test(`${scenario.name}: answered as a real API server does`, async () => {
    const ours = await transcript(simulatorApi(openServer()), scenario, "recorded");
    const real = linesOf(record, scenario.name);
    const wrong = compare(scenario.name, ours, real).filter((verdict) => !holds(verdict));
    assert.equal(wrong.map(textOf).join("\n"), "");
    assert.ok(real.length > 0);
    assert.deepEqual(
      ours.map(({ name }) => name),
      real.map(({ name }) => name),
    );
  });
