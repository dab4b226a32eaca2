/**
 * Granted rights equal used rights: the evidence of the lanes is compared with the grants, and each difference is
 * reported.
 */
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { type Evidence, leaveRights, shipped } from "../../real/e2e/rights.ts";
import { lanesOf, rare } from "../../real/infra/rare.ts";
import { judged, untested } from "../../real/infra/rights.ts";

const lanes = [...new Set(Object.values(lanesOf).flat())];

/** Returns the evidence of a lane under the shipped grants, with all of them used. */
const usual = (lane: string): Evidence => ({ lane, granted: shipped, used: allUsed, refused: {} });

const allUsed: Evidence["used"] = {
  ...shipped,
  rekindle: ["rekindle", "rekindle with admission", "rekindle with apache"].flatMap(
    (account) => shipped[account] ?? [],
  ),
};

const judgedOf = async (seen: readonly Evidence[]) => {
  const dir = mkdtempSync(join(tmpdir(), "rekindle-rights-"));
  try {
    for (const one of seen) writeFileSync(join(dir, `${one.lane}.json`), JSON.stringify(one));
    return await judged(dir);
  } finally {
    rmSync(dir, { recursive: true });
  }
};

const withoutUse = (account: string, right: string) =>
  lanes.map(usual).map((one) => ({
    ...one,
    used: { ...one.used, [account]: (one.used[account] ?? []).filter((used) => used !== right) },
  }));

describe("what a lane leaves behind of rights", () => {
  const audit = { read: async () => [] };
  for (const [only, files] of [
    [undefined, ["main-ours.json"]],
    ["killed", []],
    ["", []],
  ] as const)
    test(`a run ${only === undefined ? "of all its cases is kept" : `with --case "${only}" is not`}`, async () => {
      const dir = mkdtempSync(join(tmpdir(), "rekindle-rights-"));
      try {
        await leaveRights({ lane: "main-ours", only }, audit, dir);
        assert.deepEqual(readdirSync(dir), files);
      } finally {
        rmSync(dir, { recursive: true });
      }
    });
});

describe("rights, as lanes saw them", () => {
  test("that are all used are as they should be", async () => {
    assert.deepEqual(await judgedOf(lanes.map(usual)), { wrong: [], missing: [] });
  });

  test("of which one is never used are too many, unless it is rare", async () => {
    const right = "create pods";
    assert.deepEqual((await judgedOf(withoutUse("rekindle", right))).wrong, [
      "rekindle may create pods, and no lane used it",
    ]);
    assert.deepEqual((await judgedOf(withoutUse("rekindle", "get priorityclasses.scheduling.k8s.io"))).wrong, []);
  });

  test("that were refused are too few, in whatever lane", async () => {
    const seen = lanes.map(usual).map((one) => ({ ...one, refused: { "rekindle-forward": ["get secrets"] } }));
    assert.deepEqual((await judgedOf(seen)).wrong, [
      "rekindle-forward was refused get secrets in lane e2e-nats: grant it, or do not ask",
      "rekindle-forward was refused get secrets in lane functions: grant it, or do not ask",
      "rekindle-forward was refused get secrets in lane lambda: grant it, or do not ask",
    ]);
  });

  test("say nothing of what is unused while a lane is missing, or was run under other grants", async () => {
    const others = withoutUse("rekindle", "create pods");
    const old = others.map((one) =>
      one.lane === "main-ours" ? { ...one, granted: { ...shipped, rekindle: ["create pods"] } } : one,
    );
    assert.deepEqual(await judgedOf(old), { wrong: [], missing: ["main-ours"] });
    assert.deepEqual((await judgedOf([])).missing, lanes);
  });

  test("that are rare are granted, and each has a test that is there", async () => {
    assert.deepEqual(await untested(), []);
    const [first] = rare;
    assert.ok(first);
    assert.equal((await untested([{ ...first, test: ["test/unit/host/rights.test.ts", "no such test"] }])).length, 1);
    const stray = rare.flatMap(({ account, rights }) => rights.filter((right) => !shipped[account]?.includes(right)));
    assert.deepEqual(stray, []);
  });
});
