/**
 * Pod templates have no schema in upstream's CRDs: every field of core/v1 reaches the created pods, except those that
 * Spark itself writes.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { parse } from "yaml";
import { dataDir, skipWithoutData } from "../../support/data.ts";
import { at, type Fields, isFields, versionAt } from "../infra/crd-comparison.ts";
import { type Exception, idle, type Kind, someFindings, unexpected } from "./fields/findings.ts";
import { type Following, ofApplication, ofConnect } from "./fields/following.ts";
import { fieldsOf } from "./fields/paths.ts";

/** Returns the schema of a pod's spec, from a CRD that spells it out. */
const podSpec = (): Fields => {
  const file = join(dataDir ?? "", "volcano/crds/bases/batch.volcano.sh_jobs.yaml");
  const crd: unknown = parse(readFileSync(file, "utf8"));
  const tasks = ["properties", "spec", "properties", "tasks", "items"];
  const template = [...tasks, "properties", "template", "properties", "spec"];
  const found = at(versionAt(isFields(crd) ? crd : {}, ["schema", "openAPIV3Schema"]), template);
  return isFields(found) ? found : {};
};

const spark: Fields = {
  ...{
    type: "Scala",
    sparkVersion: "4.1.1",
    image: "spark:4.1.1",
    mainClass: "A",
    mainApplicationFile: "local:///a.jar",
  },
  ...{ driver: { serviceAccount: "spark" }, executor: {} },
};

const connect: Fields = { sparkVersion: "4.1.1", image: "spark:4.1.1", server: {}, executor: {} };

type Row = {
  readonly of: string;
  readonly role: string;
  readonly base: Fields;
  readonly follow: (spec: Fields) => Following;
  readonly written: readonly Exception[];
};

const rows: readonly Row[] = [
  {
    ...{ of: "a SparkApplication", role: "driver", base: spark, follow: ofApplication },
    written: [
      { path: /^restartPolicy$/, why: "Spark writes Never" },
      { path: /^serviceAccount(Name)?$/, why: "spec.driver.serviceAccount goes before it" },
      { path: /^containers\[\]\.image(PullPolicy)?$/, why: "Spark writes spec.image, and its own default policy" },
    ],
  },
  { ...{ of: "a SparkApplication", role: "executor", base: spark, follow: ofApplication }, written: [] },
  {
    ...{ of: "a SparkConnect", role: "server", base: connect, follow: ofConnect },
    written: [
      { path: /^containers\[\]\.(command|args)\[\]$/, why: "it starts the server, as upstream writes it" },
      { path: /^containers\[\]\.lifecycle\./, why: "it stops the server, as upstream writes it" },
    ],
  },
  { ...{ of: "a SparkConnect", role: "executor", base: connect, follow: ofConnect }, written: [] },
];

describe("pod templates", () => {
  for (const { of, role, base, follow, written } of rows) {
    test(`of ${of} pass each field for the ${role} to its pod`, { skip: skipWithoutData }, () => {
      const before = isFields(base[role]) ? base[role] : {};
      const templated = (spec: Fields): Fields => ({ ...base, [role]: { ...before, template: { spec } } });
      const kind: Kind = {
        ...{ base: {}, contexts: [], samples: {}, ignored: written, refused: [] },
        follow: (spec) => follow(templated(spec)),
      };
      const all = someFindings(kind, podSpec());
      assert.ok(fieldsOf(podSpec(), {}).length > 500);
      assert.deepEqual([unexpected(all, kind), idle(all, kind)], [[], []]);
    });
  }
});
