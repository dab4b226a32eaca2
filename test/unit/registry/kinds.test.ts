/** The registry: each kind has one row, and every part that its folder has stands in the part's list. */
import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { registryFiles, registryRows } from "../../../infra/registry.ts";
import { checkpointRef } from "../../../shared/adapters/checkpoints/kubernetes.ts";
import { groupOf, textOf } from "../../../shared/core/key.ts";
import { apiVersionOf, keyKindOf, type Obj, type Resource } from "../../../shared/core/object.ts";
import { sendingsOf, subjectsOf } from "../../../shared/forward/keys.ts";
import { kindNamedIn } from "../../../shared/inspection/kinds/all.ts";
import { mayBelongTo } from "../../../shared/kube/pods.ts";
import { definitions } from "../../../shared/registry/definitions.ts";
import { inspections } from "../../../shared/registry/inspections.ts";
import { installations } from "../../../shared/registry/installations.ts";
import { kinds } from "../../../shared/registry/kinds.ts";
import { loaders } from "../../../shared/registry/loaders.ts";
import { familyOf, kindNames, pluralsOf, resourceOf, resources, runs } from "../../../shared/registry/names.ts";
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

  /** The application of another operator, which has the kind and the plural of one of ours. */
  const apache: Resource = {
    ...{ group: "spark.apache.org", version: "v1", plural: "sparkapplications", kind: "SparkApplication" },
    keyKind: "ApacheSparkApplication",
  };
  const [spark] = kinds;
  const both = [spark?.resource, apache].filter((one) => one !== undefined);

  test("gives each kind keys of its own: records have the kind in lower case, and a dot divides it from the name", () => {
    const names = kindNames.map((name) => name.toLowerCase());
    assert.equal(new Set(names).size, names.length);
    for (const name of kindNames) assert.match(name, /^[A-Z][A-Za-z]+$/);
    assert.deepEqual(kindNames.map(resourceOf), resources);
  });

  test("keeps the keys of before: a kind that was first to have its name is named by it alone", () => {
    assert.deepEqual(both.map(keyKindOf), ["SparkApplication", "ApacheSparkApplication"]);
    const refs = both.map((resource) => ({
      cluster: "default",
      kind: keyKindOf(resource),
      namespace: "a",
      name: "pi",
    }));
    assert.deepEqual(
      refs.map((key) => checkpointRef(key, "home").name),
      ["sparkapplication.pi", "apachesparkapplication.pi"],
    );
    assert.equal(new Set(refs.map(groupOf)).size, 2);
  });

  test("tells two groups apart in the paths of events and in the words of the command line", () => {
    assert.deepEqual(pluralsOf(both), {
      "sparkoperator.k8s.io/sparkapplications": "SparkApplication",
      "spark.apache.org/sparkapplications": "ApacheSparkApplication",
    });
    const named = both.map((resource) => ({ resource, shortNames: ["sparkapp"] }));
    const words = [
      ...["sparkapp", "SparkApplication", "sparkapplications", "sparkapplications.sparkoperator.k8s.io"],
      ...["apachesparkapplication", "sparkapplication.spark.apache.org", "sparkapp.v1.spark.apache.org", "apachespark"],
    ];
    assert.deepEqual(
      words.map((word) => kindNamedIn(named, word)?.resource.group),
      [...Array(4).fill("sparkoperator.k8s.io"), ...Array(4).fill("spark.apache.org")],
    );
  });

  test("counts a pod of another object of its kind as none of its own, and concludes nothing from a kind of another group", () => {
    const owned = both.map((resource) => ({
      ...{ apiVersion: "v1", kind: "Pod" },
      metadata: {
        name: "pi-driver",
        ownerReferences: [{ apiVersion: apiVersionOf(resource), kind: resource.kind, name: "pi", uid: resource.group }],
      },
    }));
    const seen = both.map((resource) => owned.map((pod) => mayBelongTo(pod, resource, resource.group)));
    assert.deepEqual(seen, [
      [true, true],
      [true, true],
    ]);
    const strange = both.map((resource) => owned.map((pod) => mayBelongTo(pod, resource, "another")));
    assert.deepEqual(strange, [
      [false, true],
      [true, false],
    ]);
  });

  test("leads a change of either object to its own key, and to no other", () => {
    const watchers = both.map((resource) => ({
      ...{ kind: keyKindOf(resource), resource },
      watches: [{ resource, ownerName: ({ metadata }: Obj) => metadata.name, matters: () => true }],
    }));
    const subjects = subjectsOf(watchers);
    assert.equal(subjects.length, 2);
    const sent = subjects.flatMap((subject) => {
      const metadata = { name: "pi", namespace: "a", uid: "u", resourceVersion: "1" };
      const after = { apiVersion: apiVersionOf(subject.resource), kind: subject.resource.kind, metadata };
      return sendingsOf("here", subject, { before: undefined, after });
    });
    assert.deepEqual(
      sent.map(({ message }) => [textOf(message), message.fresh]),
      [
        ["here/SparkApplication/a/pi", true],
        ["here/ApacheSparkApplication/a/pi", true],
      ],
    );
    assert.equal(new Set(sent.map(({ dedupeId }) => dedupeId)).size, 2);
  });

  /** Of Kubernetes, and not of a key: the kinds of the objects of Events, and of webhook configurations. */
  const ofKubernetes = [
    "shared/inspection/log.ts",
    "shared/deployments/page/detail.ts",
    "shared/cli/commands/migrate.ts",
  ];

  test("is asked for the kind of a key: no code takes that of the resource", () => {
    const found = globSync("shared/**/*.{ts,tsx}", { cwd: root }).filter((path) =>
      readFileSync(join(root, path), "utf8")
        .split("\n")
        .some(
          (line) =>
            /\bkind: [\w.]*resource\.kind\b/.test(line) && /\bname(space)?\b/.test(line) && !/apiVersion/.test(line),
        ),
    );
    assert.deepEqual(found.filter((path) => !ofKubernetes.includes(path)).toSorted(), []);
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
