/**
 * The flags of Volcano's controller manager on the host's command line: the arguments of its Deployment can stay
 * unchanged.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readConfiguration } from "../../../../shared/deployments/settings/host.ts";
import { volcanoRows } from "../../../../shared/deployments/settings/upstream-flags.ts";

const read = async (...flags: readonly string[]) => JSON.stringify(await readConfiguration(flags, {}));

describe("a flag of Volcano's controller manager", () => {
  for (const { flag } of volcanoRows.filter(({ is }) => is === "ignored"))
    test(`--${flag} is accepted, with a note that it is ignored`, async () => {
      assert.match(await read(`--${flag}=1`), new RegExp(`flag --${flag}: ignored: `));
    });

  test("that limits the retries of a job is ignored, because no trouble of the API server ends a job", async () => {
    assert.match(await read("--max-requeue-num=15"), /ignored: errors of the API server never fail a job/);
  });

  test("that has another name in Rekindle is accepted", async () => {
    assert.match(await read("--worker-threads=7"), /"concurrency":7/);
  });

  const refusals = [
    ["--controllers=-job-controller", /runs all of its controllers and cannot switch one off/],
    ["--scheduler-name=mine", /bare pods of the scheduler `volcano` get groups/],
    ["--feature-gates=WorkLoadSupport=false", /flag --feature-gates: /],
  ] as const;
  for (const [flag, says] of refusals) test(`${flag} is refused`, async () => assert.match(await read(flag), says));

  test("that has no effect is accepted silently, even if the Spark operator has a flag of that name", async () => {
    const flags = ["--controllers=*", "--feature-gates=VolcanoJobSupport=true", "--feature-gates=PartialRestart=false"];
    for (const flag of flags) assert.doesNotMatch(await read(flag), /problem|--controllers:|--feature-gates:/, flag);
  });
});
