/** The registry: each kind has one row, and every part that its folder has stands in the part's list. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { registryFiles, registryRows } from "../../../infra/registry.ts";
import { definitions } from "../../../shared/registry/definitions.ts";
import { inspections } from "../../../shared/registry/inspections.ts";
import { installations } from "../../../shared/registry/installations.ts";
import { kinds } from "../../../shared/registry/kinds.ts";
import { loaders } from "../../../shared/registry/loaders.ts";
import { familyOf, kindNames, runs } from "../../../shared/registry/names.ts";
import { states } from "../../../shared/registry/states.ts";
import { watchers } from "../../../shared/registry/watchers.ts";
import { sweptKinds } from "../../proof/sweep/kinds.ts";

const root = join(import.meta.dirname, "..", "..", "..");

describe("the registry", () => {
  test("has one row for each kind, and a folder with watches and an operator", async () => {
    const rows = await registryRows();
    assert.deepEqual(
      rows.map(({ kind }) => kind),
      kinds,
    );
    const ids = kinds.map(({ resource: { group, kind } }) => `${group}/${kind}`);
    assert.equal(new Set(ids).size, ids.length);
    for (const { folder, name } of rows)
      for (const file of ["watches", "operator"])
        assert.ok(existsSync(join(root, "shared", folder, `${file}.ts`)), `${name} has no ${file}.ts`);
  });

  test("lists each part under the kind of its row", () => {
    assert.deepEqual(
      watchers.map(({ kind }) => kind),
      kindNames,
    );
    assert.deepEqual(
      loaders.map(({ kind }) => kind),
      kinds,
    );
    for (const list of [definitions, installations, states, inspections])
      for (const { kind } of list) assert.ok(kinds.includes(kind), kind.resource.kind);
  });

  test("makes the files of a watcher from the rows alone: a kind without a part is missing in that list only", async () => {
    const texts = new Map((await registryFiles()).map(({ path, text }) => [path.split("/").at(-1), text]));
    const has = (file: string, name: string): boolean => texts.get(file)?.includes(`${name}/`) === true;
    assert.deepEqual(
      ["watchers.ts", "operators.ts", "definitions.ts", "states.ts"].map((file) => has(file, "volcano/template")),
      [true, true, true, false],
    );
  });

  test("knows the family of each API group, also of resources without steps, and of no other", () => {
    const groups = ["sparkoperator.k8s.io", "flow.volcano.sh", "bus.volcano.sh", "topology.volcano.sh", "", "apps"];
    assert.deepEqual(groups.map(familyOf), ["spark", "volcano", "volcano", "volcano", undefined, undefined]);
  });

  test("runs a kind with its family, and tells kinds of two groups apart that have one name", () => {
    const other = { group: "apps.example.com", version: "v1", plural: "jobs", kind: "Job" };
    const job = kinds.find(({ resource }) => resource.kind === "Job")?.resource;
    assert.ok(job !== undefined);
    assert.deepEqual([runs(["volcano"])({ resource: job }), runs(["spark"])({ resource: job })], [true, false]);
    assert.equal(runs(["spark", "volcano"])({ resource: other }), false);
  });

  /** The kinds without a scenario of their own. Nothing sweeps steps of Pod, which create one group and save nothing. */
  const unswept = {
    JobTemplate: "its steps run in the scenarios of JobFlows",
    Pod: "test/unit/volcano/ungrouped-pods",
  };

  test("is swept: each kind has an oracle, or stands here with the place of its tests", () => {
    const swept: readonly string[] = sweptKinds;
    assert.deepEqual(kindNames.filter((kind) => !swept.includes(kind)).toSorted(), Object.keys(unswept));
  });
});
