/** Custom resources: schemas, pruning, defaults, status, generations. */
import { testCase } from "../../support/test-case.ts";
import { metaOf } from "./changes.ts";
import type { Scenario } from "./scenario.ts";

const merge = { "content-type": "application/merge-patch+json" } as const;
const group = "behaviours.example.com";

const schema = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      required: ["mode"],
      properties: {
        mode: { type: "string", enum: ["a", "b"] },
        count: { type: "integer", format: "int32", minimum: 1, maximum: 10 },
        ratio: { type: "number" },
        flag: { type: "boolean", default: false },
        text: { type: "string", pattern: "^[a-z]+$", maxLength: 5, minLength: 2 },
        quantity: { anyOf: [{ type: "integer" }, { type: "string" }], "x-kubernetes-int-or-string": true },
        list: {
          type: "array",
          minItems: 1,
          maxItems: 2,
          items: {
            type: "object",
            required: ["name"],
            properties: { name: { type: "string" }, port: { type: "integer", default: 80 } },
          },
        },
        map: { type: "object", additionalProperties: { type: "string" } },
        free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        maybe: { type: "string", nullable: true },
        time: { type: "string", format: "date-time" },
        nested: { type: "object", default: {}, properties: { deep: { type: "string", default: "yes" } } },
      },
    },
    status: { type: "object", properties: { state: { type: "string" }, n: { type: "integer" } } },
  },
};

const definition = (plural: string, kind: string) => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: "Namespaced",
    names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List`, shortNames: ["bt"] },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: schema },
        additionalPrinterColumns: [
          { name: "Mode", type: "string", jsonPath: ".spec.mode" },
          { name: "Count", type: "integer", jsonPath: ".spec.count" },
        ],
      },
    ],
  },
});

const thing = (name: string, spec: object, more: object = {}) => ({
  apiVersion: `${group}/v1`,
  kind: "BehaviourThing",
  metadata: { name },
  spec,
  ...more,
});

const bad: readonly (readonly [string, object])[] = [
  ["wrong enum", { mode: "c" }],
  ["missing", {}],
  ["wrong types", { mode: "a", count: "3", flag: "yes", text: 5, list: {}, map: [] }],
  ["out of bounds", { mode: "a", count: 0 }],
  ["above bounds", { mode: "a", count: 11 }],
  ["no integer", { mode: "a", count: 1.5 }],
  ["bad pattern", { mode: "a", text: "ABC" }],
  ["too long", { mode: "a", text: "abcdefg" }],
  ["too short", { mode: "a", text: "a" }],
  ["too many", { mode: "a", list: [{ name: "1" }, { name: "2" }, { name: "3" }] }],
  ["too few", { mode: "a", list: [] }],
  ["missing in an item", { mode: "a", list: [{}] }],
  ["a map of numbers", { mode: "a", map: { x: 1 } }],
  ["a bad time", { mode: "a", time: "yesterday" }],
  ["a bad quantity", { mode: "a", quantity: true }],
  ["null", { mode: null }],
];

export const customs: readonly Scenario[] = [
  testCase("custom resources", async ({ ask, api, note, ns }) => {
    const path = `/apis/${group}/v1/namespaces/${ns}/behaviourthings`;
    await api.call("DELETE", `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/behaviourthings.${group}`);
    await api.settle();
    await ask("before its definition", "POST", path, thing("x", { mode: "a" }));
    await api.call(
      "POST",
      "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
      definition("behaviourthings", "BehaviourThing"),
    );
    for (let i = 0; i < 5; i += 1) await api.settle();
    await ask(
      "the definition",
      "GET",
      `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/behaviourthings.${group}`,
    );
    for (const [name, spec] of bad) await ask(name, "POST", path, thing("x", spec));
    await ask("spec of another type", "POST", path, { ...thing("x", {}), spec: "text" });
    await ask("without kind", "POST", path, { metadata: { name: "x" }, spec: { mode: "a" } });
    await ask("of another kind", "POST", path, { ...thing("x", { mode: "a" }), kind: "Other" });
    await ask("of another version", "POST", path, { ...thing("x", { mode: "a" }), apiVersion: `${group}/v2` });
    await ask(
      "pruned and defaulted",
      "POST",
      path,
      thing(
        "one",
        {
          mode: "a",
          extra: 1,
          count: 2,
          list: [{ name: "n", more: 1 }],
          map: { k: "v" },
          free: { any: { thing: 1 } },
          maybe: null,
          quantity: "1Gi",
        },
        { status: { state: "mine" }, junk: 1 },
      ),
    );
    await ask(
      "strictly",
      "POST",
      `${path}?fieldValidation=Strict`,
      thing("two", { mode: "a", extra: 1, list: [{ name: "n", more: 1 }] }),
    );
    await ask("warned", "POST", `${path}?fieldValidation=Warn`, thing("three", { mode: "a", extra: 1 }));
    await ask("ignored", "POST", `${path}?fieldValidation=Ignore`, thing("four", { mode: "a", extra: 1 }));
    const strictly = `${path}/one?fieldValidation=Strict`;
    await ask("patched strictly", "PATCH", strictly, { spec: { extra: 1 } }, merge);
    await ask("patched to other labels", "PATCH", `${path}/one`, { metadata: { labels: "text" } }, merge);
    await ask("put without a revision", "PUT", `${path}/one`, thing("one", { mode: "b" }));
    const one = metaOf(await ask("read", "GET", `${path}/one`));
    await ask("put", "PUT", `${path}/one`, {
      ...thing("one", { mode: "b" }, { status: { state: "x" } }),
      metadata: { name: "one", resourceVersion: one.resourceVersion },
    });
    await ask(
      "status",
      "PATCH",
      `${path}/one/status`,
      { status: { state: "y", more: 1 }, spec: { mode: "a" }, metadata: { labels: { a: "b" } } },
      merge,
    );
    await ask("status of a wrong type", "PATCH", `${path}/one/status`, { status: { n: "y" } }, merge);
    await ask(
      "status fenced by a past revision",
      "PATCH",
      `${path}/one/status`,
      { metadata: { resourceVersion: one.resourceVersion }, status: { state: "z" } },
      merge,
    );
    await ask("status by put", "PUT", `${path}/one/status`, {
      ...thing("one", { mode: "b" }, { status: { state: "z" } }),
      metadata: { name: "one", resourceVersion: metaOf(await api.call("GET", `${path}/one`)).resourceVersion },
    });
    await ask("labels", "PATCH", `${path}/one`, { metadata: { labels: { a: "b" } } }, merge);
    await ask("spec to be refused", "PATCH", `${path}/one`, { spec: { count: 99 } }, merge);
    await ask("spec", "PATCH", `${path}/one`, { spec: { count: 3 } }, merge);
    await ask(
      "strategic",
      "PATCH",
      `${path}/one`,
      { spec: { count: 4 } },
      { "content-type": "application/strategic-merge-patch+json" },
    );
    await ask("applied", "PATCH", `${path}/five?fieldManager=me`, thing("five", { mode: "a" }), {
      "content-type": "application/apply-patch+yaml",
    });
    await ask("a list", "GET", path);
    await ask("a table", "GET", `${path}/one`, undefined, { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" });
    await ask("scale", "GET", `${path}/one/scale`);
    await ask("delete", "DELETE", `${path}/one`);
    await ask(
      "delete with a finalizer",
      "PATCH",
      `${path}/three`,
      { metadata: { finalizers: ["example.com/f"] } },
      merge,
    );
    await ask("begun", "DELETE", `${path}/three`);
    await ask("freed", "PATCH", `${path}/three`, { metadata: { finalizers: [] } }, merge);
    await ask("gone", "GET", `${path}/three`);
    await ask(
      "the definition goes",
      "DELETE",
      `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/behaviourthings.${group}`,
    );
    for (let i = 0; i < 4; i += 1) await api.settle();
    await ask("and its things with it", "GET", path);
    note("end", true);
  }),
];
