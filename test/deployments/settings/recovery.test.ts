/** How records come back, as a deployment sets it: flags of hosts, the environment of functions. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readConfiguration } from "../../../shared/deployments/settings/read.ts";
import { recoverySettingsIn, recoverySettingsOf } from "../../../shared/deployments/settings/recovery.ts";
import { recovery } from "../../../shared/engine/settings.ts";

const day = 86_400_000;

const asked = async (...args: readonly string[]) => {
  const read = await readConfiguration(args, {});
  return read.do === "run" ? recoverySettingsOf(read.configuration) : read;
};

describe("recovery, as flags of a host", () => {
  const rows = [
    { args: [], want: {} },
    { args: ["--strict=false"], want: { strict: false } },
    { args: ["--reconfiguration-policy=equal"], want: { policy: "equal" } },
    { args: ["--reregistration=10m"], want: { returnMs: 600_000 } },
    { args: ["--keep-runs=0", "--keep-runs-for=24h"], want: { runs: 0, retentionMs: day } },
  ] as const;
  for (const { args, want } of rows)
    test(args.join(" ") || "none", async () => assert.deepEqual(await asked(...args), { ...recovery, ...want }));

  const refusals = [
    { args: ["--reregistration=11m"], why: /up to 10m/ },
    { args: ["--keep-runs=101"], why: /from 0 to 100/ },
    { args: ["--reconfiguration-policy=some"], why: /additive or equal or any/ },
  ];
  for (const { args, why } of refusals)
    test(`refused: ${args.join(" ")}`, async () => assert.match(JSON.stringify(await asked(...args)), why));
});

describe("recovery, as a function's environment", () => {
  test("nothing said means the defaults", () => assert.deepEqual(recoverySettingsIn({ OTHER: "x" }), recovery));

  test("what is said holds", () => {
    const env = { REKINDLE_STRICT: "false", REKINDLE_REREGISTRATION: "5s", REKINDLE_KEEP_RUNS_FOR: "24h" };
    assert.deepEqual(recoverySettingsIn(env), { ...recovery, strict: false, returnMs: 5_000, retentionMs: day });
  });

  test("what is wrong is named, by its variable", () => {
    const env = { REKINDLE_STRICT: "maybe", REKINDLE_REREGISTRATION: "1h" };
    assert.throws(() => recoverySettingsIn(env), /REKINDLE_STRICT \(.*REKINDLE_REREGISTRATION \(.*up to 10m/);
  });
});
