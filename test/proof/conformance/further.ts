/** Requests that Rekindle depends on: leases, events, custom objects that own pods, every form of precondition. */
import { testCase } from "../../support/test-case.ts";
import { map, pod } from "./basics.ts";
import { metaOf } from "./changes.ts";
import type { Scenario } from "./scenario.ts";

const pods = (ns: string) => `/api/v1/namespaces/${ns}/pods`;
const maps = (ns: string) => `/api/v1/namespaces/${ns}/configmaps`;
const leases = (ns: string) => `/apis/coordination.k8s.io/v1/namespaces/${ns}/leases`;
const merge = { "content-type": "application/merge-patch+json" } as const;
const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const group = "further.example.com";

const lease = (name: string, holder: string, meta: object = {}) => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { name, ...meta },
  spec: { holderIdentity: holder, leaseDurationSeconds: 15, renewTime: "2026-01-02T03:04:05.000000Z" },
});

const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `records.${group}` },
  spec: {
    group,
    scope: "Namespaced",
    names: { plural: "records", kind: "Record" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
              list: {
                type: "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"],
                items: {
                  type: "object",
                  required: ["name"],
                  properties: { name: { type: "string" }, n: { type: "integer" } },
                },
              },
              words: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
            },
          },
        },
      },
    ],
  },
};

const record = (name: string, more: object = {}, meta: object = {}) => ({
  apiVersion: `${group}/v1`,
  kind: "Record",
  metadata: { name, ...meta },
  spec: { a: 1 },
  ...more,
});

const apply = { "content-type": "application/apply-patch+yaml" } as const;

export const further: readonly Scenario[] = [
  testCase("leases", async ({ ask, ns }) => {
    const first = metaOf(await ask("made by put", "PUT", `${leases(ns)}/l`, lease("l", "a")));
    await ask("taken without a revision", "PUT", `${leases(ns)}/l`, lease("l", "b"));
    await ask(
      "taken with its revision",
      "PUT",
      `${leases(ns)}/l`,
      lease("l", "b", { resourceVersion: first.resourceVersion }),
    );
    await ask(
      "taken with a past revision",
      "PUT",
      `${leases(ns)}/l`,
      lease("l", "c", { resourceVersion: first.resourceVersion }),
    );
    await ask(
      "renewed by patch",
      "PATCH",
      `${leases(ns)}/l`,
      { spec: { renewTime: "2026-01-02T03:04:15.000000Z" } },
      merge,
    );
    await ask("a duration that cannot be", "PATCH", `${leases(ns)}/l`, { spec: { leaseDurationSeconds: 0 } }, merge);
    await ask("put of an absent map", "PUT", `${maps(ns)}/absent`, map("absent"));
    await ask("put of an absent event", "PUT", `/api/v1/namespaces/${ns}/events/e`, {
      metadata: { name: "e", namespace: ns },
      involvedObject: { namespace: ns },
    });
    const role = { metadata: { name: "r" }, rules: [] };
    await ask("put of an absent role", "PUT", `/apis/rbac.authorization.k8s.io/v1/namespaces/${ns}/roles/r`, role);
    const service = { metadata: { name: "s" }, spec: { ports: [{ port: 1 }] } };
    await ask("put of an absent service", "PUT", `/api/v1/namespaces/${ns}/services/s`, service);
    await ask(
      "put with a revision of what is absent",
      "PUT",
      `${leases(ns)}/m`,
      lease("m", "a", { resourceVersion: "5" }),
    );
  }),
  testCase("records", async ({ ask, api, watch, note, ns }) => {
    const path = `/apis/${group}/v1/namespaces/${ns}/records`;
    await api.call("POST", crds, definition);
    for (let i = 0; i < 3; i += 1) await api.settle();
    const made = metaOf(await ask("made", "POST", path, record("r", { status: { x: 1 } })));
    await ask("again", "POST", path, record("r"));
    await ask("status has no door", "PATCH", `${path}/r/status`, { status: {} }, merge);
    const put = metaOf(
      await ask(
        "put",
        "PUT",
        `${path}/r`,
        record("r", { spec: { a: 2, deep: { b: [1] } } }, { resourceVersion: made.resourceVersion }),
      ),
    );
    await ask("put of a past revision", "PUT", `${path}/r`, record("r", {}, { resourceVersion: made.resourceVersion }));
    await ask("put of what is absent", "PUT", `${path}/absent`, record("absent", {}, { resourceVersion: "1" }));
    const same = metaOf(
      await ask(
        "the same",
        "PUT",
        `${path}/r`,
        record("r", { spec: { a: 2, deep: { b: [1] } } }, { resourceVersion: put.resourceVersion }),
      ),
    );
    note("revision stays", same.resourceVersion === put.resourceVersion);
    await ask(
      "labels count for nothing",
      "PATCH",
      `${path}/r`,
      { metadata: { labels: { a: "b" }, annotations: { c: "d" } } },
      merge,
    );
    await ask("by its name", "GET", `${path}?fieldSelector=metadata.name%3Dr`);
    await ask("its metadata", "GET", path, undefined, {
      accept: "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
    });
    await watch("watched", `${path}?watch=true&resourceVersion=${made.resourceVersion}`, 10);
    await watch("watched as metadata", `${path}?watch=true&labelSelector=a`, 10);
    await ask("dry patch", "PATCH", `${path}/r?dryRun=All`, { spec: { a: 9 } }, merge);
    await ask("wrong uid", "DELETE", `${path}/r`, { preconditions: { uid: "00000000-0000-4000-8000-000000000000" } });
    await ask("past revision", "DELETE", `${path}/r`, { preconditions: { resourceVersion: made.resourceVersion } });
    await ask("duplicates in a list by name", "POST", path, record("dup", { list: [{ name: "a" }, { name: "a" }] }));
    await ask("duplicates in a set", "POST", path, record("dup", { words: ["a", "a"] }));
    await ask("all deleted", "DELETE", path);
    await ask("none left", "GET", path);
  }),
  testCase("applied records", async ({ ask, api, ns }) => {
    const path = `/apis/${group}/v1/namespaces/${ns}/records`;
    await api.call("POST", crds, definition);
    for (let i = 0; i < 3; i += 1) await api.settle();
    await ask(
      "made",
      "PATCH",
      `${path}/r?fieldManager=one`,
      record("r", { list: [{ name: "a", n: 1 }], words: ["x"] }),
      apply,
    );
    await ask(
      "by another",
      "PATCH",
      `${path}/r?fieldManager=two`,
      { apiVersion: `${group}/v1`, kind: "Record", list: [{ name: "b", n: 2 }], words: ["y"] },
      apply,
    );
    await ask(
      "against the first",
      "PATCH",
      `${path}/r?fieldManager=two`,
      { apiVersion: `${group}/v1`, kind: "Record", list: [{ name: "a", n: 5 }] },
      apply,
    );
    await ask(
      "by force",
      "PATCH",
      `${path}/r?fieldManager=two&force=true`,
      { apiVersion: `${group}/v1`, kind: "Record", list: [{ name: "a", n: 5 }] },
      apply,
    );
    await ask("the first again", "PATCH", `${path}/r?fieldManager=one`, record("r", { words: ["x", "z"] }), apply);
    await ask("without kind", "PATCH", `${path}/r?fieldManager=one`, { spec: {} }, apply);
    await ask("of another name", "PATCH", `${path}/r?fieldManager=one`, record("s"), apply);
  }),
  testCase("owned pods", async ({ ask, api, note, ns }) => {
    const path = `/apis/${group}/v1/namespaces/${ns}/records`;
    await api.call("POST", crds, definition);
    for (let i = 0; i < 3; i += 1) await api.settle();
    const owner = metaOf(await api.call("POST", path, record("o", {}, { finalizers: ["example.com/f"] })));
    const ownerReferences = [
      {
        apiVersion: `${group}/v1`,
        kind: "Record",
        name: "o",
        uid: owner.uid,
        controller: true,
        blockOwnerDeletion: true,
      },
    ];
    await ask("made", "POST", pods(ns), pod("p", {}, { ownerReferences }));
    await ask(
      "with two controllers",
      "POST",
      pods(ns),
      pod("q", {}, { ownerReferences: [...ownerReferences, { ...ownerReferences[0], name: "x" }] }),
    );
    await ask("owner begins to go", "DELETE", `${path}/o`);
    await api.settle();
    note("the pod stays", (await api.call("GET", `${pods(ns)}/p`)).status);
    await ask("freed with a change", "PATCH", `${path}/o`, { metadata: { finalizers: null }, spec: { a: 7 } }, merge);
    await api.settle();
    note("the pod goes", (await api.call("GET", `${pods(ns)}/p`)).status);
  }),
];
