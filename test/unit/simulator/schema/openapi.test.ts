/** The simulator's OpenAPI v3 of its kinds: enough for kubectl to explain them and to merge by their keys. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { at, fieldsAt, itemsAt } from "../../../../shared/simulator/storage/json.ts";
import { crds } from "../../../support/crds.ts";
import { open } from "../stand.ts";

const { call } = open({ crds });

const schemasOf = (group: string): unknown => at(call("GET", `/openapi/v3/${group}`).body, "components", "schemas");

const core = schemasOf("api/v1");
const apps = schemasOf("apis/apps/v1");
const spark = schemasOf("apis/sparkoperator.k8s.io/v1beta2");
const application = at(spark, "sparkoperator.k8s.io.v1beta2.SparkApplication");

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const merged = (key: string) => ({ "x-kubernetes-patch-merge-key": key, "x-kubernetes-patch-strategy": "merge" });
const listed = (...keys: readonly string[]) => ({
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": keys,
});

describe("a schema", () => {
  const fields = [
    { of: core, path: ["Pod", "metadata"], is: ref("ObjectMeta") },
    { of: core, path: ["ObjectMeta", "labels"], is: { type: "object", additionalProperties: { type: "string" } } },
    {
      of: core,
      path: ["PodSpec", "containers"],
      is: { type: "array", items: ref("Container"), ...listed("name"), ...merged("name") },
    },
    {
      of: core,
      path: ["ServiceSpec", "ports"],
      is: { type: "array", items: ref("ServicePort"), ...listed("port", "protocol"), ...merged("port") },
    },
    {
      of: core,
      path: ["Container", "ports"],
      is: {
        type: "array",
        items: ref("ContainerPort"),
        ...listed("containerPort", "protocol"),
        ...merged("containerPort"),
      },
    },
    {
      of: core,
      path: ["Container", "args"],
      is: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "atomic" },
    },
    { of: apps, path: ["DeploymentSpec", "replicas"], is: { type: "integer" } },
    { of: apps, path: ["Deployment", "apiVersion"], is: { type: "string" } },
  ];
  for (const { of, path, is } of fields)
    test(`of ${path.join(".")}`, () => {
      const [struct = "", field = ""] = path;
      assert.deepEqual(at(of, struct, "properties", field), is);
    });

  test("of a custom kind is that of its definition, with the fields that every object has", () => {
    assert.equal(at(application, "properties", "spec", "properties", "mainClass", "type"), "string");
    assert.deepEqual(at(application, "properties", "metadata"), ref("ObjectMeta"));
    assert.deepEqual(at(application, "x-kubernetes-group-version-kind"), [
      { group: "sparkoperator.k8s.io", kind: "SparkApplication", version: "v1beta2" },
    ]);
  });

  for (const group of Object.keys(fieldsAt(call("GET", "/openapi/v3").body, "paths")))
    test(`of ${group} has no dangling reference`, () => {
      const schemas = fieldsAt(call("GET", `/openapi/v3/${group}`).body, "components", "schemas");
      const wanted = [...JSON.stringify(schemas).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(
        ([, name]) => name,
      );
      assert.deepEqual(
        wanted.filter((name = "") => !Object.hasOwn(schemas, name)),
        [],
      );
      assert.ok(wanted.includes("ObjectMeta"));
    });
});

describe("a path", () => {
  const patchesAt = (group: string, path: string): readonly string[] =>
    Object.keys(
      fieldsAt(call("GET", `/openapi/v3/${group}`).body, "paths", path, "patch", "requestBody", "content"),
    ).filter((type) => type.includes("strategic"));

  test("of a built-in kind accepts strategic patches, and one of a custom kind does not", () => {
    const name = "sparkapplications/{name}";
    assert.equal(patchesAt("api/v1", "/api/v1/namespaces/{namespace}/pods/{name}").length, 1);
    const group = "apis/sparkoperator.k8s.io/v1beta2";
    assert.deepEqual(patchesAt(group, `/${group}/namespaces/{namespace}/${name}`), []);
    const paths = at(call("GET", `/openapi/v3/${group}`).body, "paths", `/${group}/namespaces/{namespace}/${name}`);
    assert.deepEqual(
      itemsAt(paths, "patch", "parameters").map((one) => at(one, "name")),
      ["dryRun", "fieldManager", "fieldValidation"],
    );
  });
});
