/** `rekindle manifests --family`: one family's CRDs, its rights, and a host that runs that family. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { printedManifests } from "./printed-manifests.ts";
import { openTerminal } from "./terminal.ts";

describe("manifests of one family", () => {
  const rows: readonly (readonly [args: readonly string[], kind: string, names: RegExp])[] = [
    [["--family=spark"], "CustomResourceDefinition", /sparkoperator\.k8s\.io$|rekindle\.dev$/],
    [["--family=volcano"], "CustomResourceDefinition", /volcano\.sh$|rekindle\.dev$/],
    [["--family=spark", "--policies"], "ValidatingAdmissionPolicy", /^(scheduled)?spark/],
    [["--family=volcano", "--policies"], "ValidatingAdmissionPolicy", /volcano/],
  ];
  for (const [args, kind, names] of rows)
    test(`${args.join(" ")} prints no ${kind} of the other family`, async () => {
      const found = (await printedManifests(...args))
        .filter((object) => object.kind === kind)
        .map(({ metadata }) => metadata.name);
      assert.ok(found.length > 2, found.join(", "));
      assert.deepEqual(
        found.filter((name) => !names.test(name)),
        [],
      );
    });

  const ofOther = {
    spark: /volcano\.sh"\],"resources":(?!\["podgroups"\])|secrets/,
    volcano: /sparkoperator/,
  } as const;
  for (const family of ["spark", "volcano"] as const) {
    test(`--family=${family} grants no right on other kinds, and the host runs this family only`, async () => {
      const objects = await printedManifests(`--family=${family}`, "--without-crds", "--admission");
      const roles = objects.filter(({ kind, metadata }) => /Role$/.test(kind) && metadata.name === "rekindle-host");
      assert.doesNotMatch(JSON.stringify(roles), ofOther[family]);
      const host = JSON.stringify(objects.filter(({ kind }) => kind === "Deployment"));
      assert.match(host, new RegExp(`"name":"REKINDLE_FAMILIES","value":"${family}"`));
      const functions = (await printedManifests(`--family=${family}`, "--functions")).filter(({ metadata }) =>
        /reconcile|forward|resync|deliver|api/.test(metadata.name),
      );
      assert.doesNotMatch(JSON.stringify(functions), ofOther[family]);
      const hooks = JSON.stringify(
        await printedManifests(`--family=${family}`, "--admission-url=https://door.example/x/"),
      );
      assert.doesNotMatch(hooks, family === "spark" ? /volcano/ : /sparkoperator|executors\.rekindle/);
    });
  }

  test("an unknown family is refused with the list of families", async () => {
    const { code, err } = await openTerminal().run("manifests", "--family=flink");
    assert.notEqual(code, 0);
    assert.match(err, /--family "flink": write names of spark, volcano, apache, separated by commas/);
  });
});
