/** The CRDs: infra/crds equals the CRDs made from the schemas, and they hold all fields of upstream's. */
import assert from "node:assert/strict";
import { globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { parse, parseAllDocuments } from "yaml";
import { crdFiles } from "../../../infra/definitions.ts";
import { generated } from "../../../infra/generated.ts";
import { faults, pruneRoot } from "../../../shared/simulator/schema/structural.ts";
import { dataDir, skipWithoutData } from "../../support/data.ts";
import { at, differences, type Fields, type Path, versionAt } from "./crd-comparison.ts";

const folder = join(import.meta.dirname, "..", "..", "..", "infra", "crds");

/** Returns what `read` returned for the same path before; no test changes what it read. */
const readOnce = <T>(read: (path: string) => T): ((path: string) => T) => {
  const known = new Map<string, T>();
  return (path) => {
    const value = known.get(path) ?? read(path);
    known.set(path, value);
    return value;
  };
};

const load = readOnce((path): Fields => parse(readFileSync(path, "utf8")));

const documentsIn = readOnce((path) => parseAllDocuments(readFileSync(path, "utf8")));

/** The folders of a family's recorded CRDs and examples. */
type Family = { readonly crds: string; readonly examples: string };
const spark: Family = { crds: "spark-operator/crds", examples: "spark-operator/examples" };
const volcano: Family = { crds: "volcano/crds/bases", examples: "volcano/examples" };
const flows: Family = { ...volcano, crds: "volcano/crds/jobflow" };

type Kind = {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
  readonly family: Family;
  readonly intended: readonly Intended[];
  /** Neither Rekindle nor upstream has examples of it. */
  readonly rare?: true;
};

const fileOf = ({ group, plural }: Kind): string => `${group}_${plural}.yaml`;
const mineOf = (kind: Kind): Fields => load(join(folder, fileOf(kind)));
const theirsOf = (kind: Kind): Fields => load(join(dataDir ?? "", kind.family.crds, fileOf(kind)));

type Intended = { readonly path: Path; readonly why: string };

/** Intended differences from upstream, below a spec of a SparkApplication. */
const ofApplications: readonly Intended[] = [
  {
    path: ["driver", "podName"],
    why: "upstream's pattern is not anchored: any name with one such letter passes",
  },
  {
    path: ["batchSchedulerOptions", "resources", "<additionalProperties>"],
    why: "a malformed quantity is told in the application's status, where it says what to write",
  },
];

const below = (...above: Path): readonly Intended[] =>
  ofApplications.map(({ path, why }) => ({ path: [...above, ...path], why }));

const ofSpark = { group: "sparkoperator.k8s.io", family: spark } as const;

/** Every kind of upstream's that Rekindle has. */
const kinds: readonly Kind[] = [
  { ...ofSpark, plural: "sparkapplications", kind: "SparkApplication", intended: below("spec") },
  {
    ...ofSpark,
    plural: "scheduledsparkapplications",
    kind: "ScheduledSparkApplication",
    intended: below("spec", "template"),
  },
  { ...ofSpark, plural: "sparkconnects", kind: "SparkConnect", intended: [] },
  { group: "batch.volcano.sh", plural: "jobs", kind: "Job", family: volcano, intended: [] },
  { group: "batch.volcano.sh", plural: "cronjobs", kind: "CronJob", family: volcano, intended: [] },
  { group: "flow.volcano.sh", plural: "jobflows", kind: "JobFlow", family: flows, intended: [] },
  { group: "flow.volcano.sh", plural: "jobtemplates", kind: "JobTemplate", family: flows, intended: [] },
  { group: "scheduling.volcano.sh", plural: "podgroups", kind: "PodGroup", family: volcano, intended: [], rare: true },
  { group: "scheduling.volcano.sh", plural: "queues", kind: "Queue", family: volcano, intended: [], rare: true },
];

const isOf =
  ({ group, kind }: Kind) =>
  (object: unknown): object is Fields =>
    at(object, ["kind"]) === kind && `${at(object, ["apiVersion"])}`.startsWith(`${group}/`);

/**
 * Returns upstream's example objects of a kind. One file of upstream's has a placeholder that is no YAML: documents
 * with errors are skipped.
 */
const examplesOf = (kind: Kind): readonly { readonly file: string; readonly object: Fields }[] =>
  readdirSync(join(dataDir ?? "", kind.family.examples), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".yaml"))
    .flatMap((file) =>
      documentsIn(join(dataDir ?? "", kind.family.examples, file))
        .filter(({ errors }) => errors.length === 0)
        .map((found): unknown => found.toJS())
        .filter(isOf(kind))
        .map((object) => ({ file, object })),
    );

describe("the CRDs", () => {
  test("what is made from code is current (else: npm run crds)", async () => {
    const files = await generated();
    const names = files.map(({ path }) => path).filter((path) => /^(?:optional-)?crds\//.test(path));
    const found = globSync(["crds/*", "optional-crds/*/*"], { cwd: join(folder, "..") });
    assert.deepEqual(found.sort(), names.sort());
    for (const { path, text } of files) assert.equal(readFileSync(join(folder, "..", path), "utf8"), text, path);
  });

  test("each fits into the annotation that client-side apply makes of it", () => {
    for (const { file, object } of crdFiles()) assert.ok(JSON.stringify(object).length < 262_144, file);
  });

  for (const one of kinds) {
    const { kind, intended, rare = false } = one;
    test(`our own examples of ${kind} are accepted and kept`, () => {
      const schema = versionAt(mineOf(one), ["schema", "openAPIV3Schema"]);
      const own = join(folder, "..", "examples");
      const files = readdirSync(own).filter((file) => file.endsWith(".yaml"));
      const documents = files.flatMap((file) => documentsIn(join(own, file)));
      const found = documents.map((document): unknown => document.toJS()).filter(isOf(one));
      for (const object of found) {
        assert.deepEqual(faults(schema, object, ""), []);
        assert.deepEqual(pruneRoot(schema, object).dropped, []);
      }
      assert.equal(found.length > 0, !rare);
    });

    test(`names, columns, versions and subresources of ${kind} are upstream's`, { skip: skipWithoutData }, () => {
      const [mine, their] = [mineOf(one), theirsOf(one)];
      assert.deepEqual(at(mine, ["spec", "names"]), at(their, ["spec", "names"]));
      assert.deepEqual(at(mine, ["spec", "scope"]), at(their, ["spec", "scope"]));
      const parts = ["name", "served", "storage", "additionalPrinterColumns", "subresources"];
      for (const part of parts) assert.deepEqual(versionAt(mine, [part]), versionAt(their, [part]), part);
    });

    test(`every typed field of ${kind} is upstream's: same type, same limits, same ones required`, {
      skip: skipWithoutData,
    }, () => {
      const root = ["schema", "openAPIV3Schema"];
      const found = differences(versionAt(mineOf(one), root), versionAt(theirsOf(one), root));
      const known = new Set(intended.map(({ path }) => path.join(".")));
      const told = found.map(({ path, what }) => ({ path: path.join("."), what }));
      assert.deepEqual(
        told.filter(({ path }) => !known.has(path)),
        [],
      );
      assert.deepEqual(new Set(told.map(({ path }) => path)), known);
    });

    test(`every example of ${kind} by upstream is accepted and kept`, { skip: skipWithoutData }, () => {
      const schema = versionAt(mineOf(one), ["schema", "openAPIV3Schema"]);
      const all = examplesOf(one);
      assert.ok(rare || all.length > 0);
      for (const { file, object } of all) {
        assert.deepEqual(faults(schema, object, ""), [], file);
        assert.deepEqual(pruneRoot(schema, object).dropped, [], file);
      }
    });
  }
});
