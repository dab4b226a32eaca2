/** The CRDs: what lies in infra/crds is what the schemas say, and users of upstream's find all of theirs in it. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { parse, parseAllDocuments } from "yaml";
import { crdFiles } from "../../infra/definitions.ts";
import { generated } from "../../infra/generated.ts";
import { pruneRoot } from "../../shared/simulator/prune.ts";
import { faults } from "../../shared/simulator/schema.ts";
import { dataDir } from "../support/data.ts";
import { at, differences, type Fields, type Path, versionAt } from "./crd-comparison.ts";

const folder = join(import.meta.dirname, "..", "..", "infra", "crds");
const group = "sparkoperator.k8s.io_";
const upstream = dataDir === undefined ? undefined : join(dataDir, "spark-operator");
const skip = upstream === undefined ? "the recorded data of upstream is not here (REKINDLE_DATA)" : false;

const load = (path: string): Fields => parse(readFileSync(path, "utf8"));
const mineOf = (plural: string): Fields => load(join(folder, `${group}${plural}.yaml`));
const theirsOf = (plural: string): Fields => load(join(upstream ?? "", "crds", `${group}${plural}.yaml`));

type Intended = { readonly path: Path; readonly why: string };

/** Where ours says something else on purpose: below a spec of a SparkApplication. */
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

/** Every kind of upstream's, by its plural. */
const kinds: readonly { readonly plural: string; readonly kind: string; readonly intended: readonly Intended[] }[] = [
  { plural: "sparkapplications", kind: "SparkApplication", intended: below("spec") },
  { plural: "scheduledsparkapplications", kind: "ScheduledSparkApplication", intended: below("spec", "template") },
  { plural: "sparkconnects", kind: "SparkConnect", intended: [] },
];

/** Upstream's example objects of a kind; one file of upstream's is no YAML at all, which is told by its placeholder. */
const examplesOf = (kind: string): readonly { readonly file: string; readonly object: Fields }[] =>
  readdirSync(join(upstream ?? "", "examples"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".yaml"))
    .flatMap((file) => {
      const documents = parseAllDocuments(readFileSync(join(upstream ?? "", "examples", file), "utf8"));
      return documents
        .filter(({ errors }) => errors.length === 0)
        .map((found): { file: string; object: unknown } => ({ file, object: found.toJS() }));
    })
    .filter((found): found is { file: string; object: Fields } => at(found.object, ["kind"]) === kind);

describe("the CRDs", () => {
  test("what is made from code is current (else: npm run crds)", () => {
    const files = generated();
    const names = files.map(({ path }) => path).filter((path) => path.startsWith("crds/"));
    assert.deepEqual(
      readdirSync(folder)
        .map((name) => `crds/${name}`)
        .sort(),
      names,
    );
    for (const { path, text } of files) assert.equal(readFileSync(join(folder, "..", path), "utf8"), text, path);
  });

  test("each fits into the annotation that client-side apply makes of it", () => {
    for (const { file, object } of crdFiles()) assert.ok(JSON.stringify(object).length < 262_144, file);
  });

  for (const { plural, kind, intended } of kinds) {
    test(`our own examples of ${kind} are accepted and kept`, () => {
      const schema = versionAt(mineOf(plural), ["schema", "openAPIV3Schema"]);
      const own = join(folder, "..", "examples");
      const objects = readdirSync(own).map((file) => load(join(own, file)));
      const found = objects.filter((each) => each["kind"] === kind);
      for (const object of found) {
        assert.deepEqual(faults(schema, object, ""), []);
        assert.deepEqual(pruneRoot(schema, object).dropped, []);
      }
      assert.ok(found.length > 0);
    });

    test(`names, columns, versions and subresources of ${kind} are upstream's`, { skip }, () => {
      const [mine, their] = [mineOf(plural), theirsOf(plural)];
      assert.deepEqual(at(mine, ["spec", "names"]), at(their, ["spec", "names"]));
      assert.deepEqual(at(mine, ["spec", "scope"]), at(their, ["spec", "scope"]));
      const parts = ["name", "served", "storage", "additionalPrinterColumns", "subresources"];
      for (const part of parts) assert.deepEqual(versionAt(mine, [part]), versionAt(their, [part]), part);
    });

    test(`every typed field of ${kind} is upstream's: same type, same limits, same ones required`, { skip }, () => {
      const root = ["schema", "openAPIV3Schema"];
      const found = differences(versionAt(mineOf(plural), root), versionAt(theirsOf(plural), root));
      const known = new Set(intended.map(({ path }) => path.join(".")));
      const told = found.map(({ path, what }) => ({ path: path.join("."), what }));
      assert.deepEqual(
        told.filter(({ path }) => !known.has(path)),
        [],
      );
      assert.deepEqual(new Set(told.map(({ path }) => path)), known);
    });

    test(`every example of ${kind} by upstream is accepted and kept`, { skip }, () => {
      const schema = versionAt(mineOf(plural), ["schema", "openAPIV3Schema"]);
      const all = examplesOf(kind);
      assert.ok(all.length > 0);
      for (const { file, object } of all) {
        assert.deepEqual(faults(schema, object, ""), [], file);
        assert.deepEqual(pruneRoot(schema, object).dropped, [], file);
      }
    });
  }
});
