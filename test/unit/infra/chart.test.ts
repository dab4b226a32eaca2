/**
 * Values of kubeflow's chart, release by release: Rekindle's chart knows each, and either uses it or reports it with a
 * reason.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { parse } from "yaml";
import { unneededValues, usedValues } from "../../../infra/chart.ts";
import { kubeflowValues } from "../../real/infra/kubeflow-values.ts";

const isUnder = (path: string, group: string): boolean => path === group || path.startsWith(`${group}.`);

const isKnownTo = (groups: readonly string[], path: string): boolean => groups.some((group) => isUnder(path, group));

const root = new URL("../../../infra/helm/rekindle/", import.meta.url);

describe("the chart and values of kubeflow's", () => {
  for (const [release, rows] of Object.entries(kubeflowValues)) {
    test(`every name of ${release} either does something or has a reason why it does not`, () => {
      const [used, unneeded] = [Object.keys(usedValues), Object.keys(unneededValues)];
      const paths = rows.map(([path]) => path);
      assert.ok(paths.length >= 117);
      assert.deepEqual(
        paths.filter((path) => isKnownTo(used, path) === isKnownTo(unneeded, path)),
        [],
      );
    });
  }

  test("values that only kubeflow's development version has are reported, and not refused", () => {
    const fresh = ["hook.resources", "hook.annotations", "hook.labels", "controller.deploymentAnnotations"];
    assert.deepEqual(
      fresh.filter((path) => !isKnownTo(Object.keys(unneededValues), path)),
      [],
    );
    const schema = JSON.parse(readFileSync(new URL("values.schema.json", root), "utf8"));
    assert.deepEqual(schema.properties.hook, {});
    assert.deepEqual(schema.properties.controller.properties.deploymentAnnotations, {});
  });

  test("every value that does something has a default in values.yaml, and a template reads it", () => {
    const defaults: unknown = parse(readFileSync(new URL("values.yaml", root), "utf8"));
    const read = readdirSync(new URL("templates/", root))
      .map((name) => readFileSync(new URL(`templates/${name}`, root), "utf8"))
      .join("\n");
    for (const path of Object.keys(usedValues)) {
      let here = defaults;
      for (const name of path.split(".")) {
        assert.ok(typeof here === "object" && here !== null && Object.hasOwn(here, name), `${path} in values.yaml`);
        here = new Map<string, unknown>(Object.entries(here)).get(name);
      }
      assert.match(read, new RegExp(`[."]${path.split(".").at(-1)}\\b`), path);
    }
  });
});
