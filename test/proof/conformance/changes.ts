/** PUT and PATCH: fences, generations, status, patches of every type. */
import { testCase } from "../../support/test-case.ts";
import { map, pod } from "./basics.ts";
import type { Said, Scenario } from "./scenario.ts";

const pods = (ns: string) => `/api/v1/namespaces/${ns}/pods`;
const maps = (ns: string) => `/api/v1/namespaces/${ns}/configmaps`;
const merge = { "content-type": "application/merge-patch+json" } as const;
const json = { "content-type": "application/json-patch+json" } as const;
const strategic = { "content-type": "application/strategic-merge-patch+json" } as const;

type Meta = {
  resourceVersion: string;
  uid: string;
  generation?: number;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
};

export const metaOf = ({ body }: Said): Meta => {
  const { metadata } = JSON.parse(JSON.stringify(body));
  return metadata ?? { resourceVersion: "", uid: "" };
};

export const changes: readonly Scenario[] = [
  testCase("put", async ({ ask, note, ns }) => {
    const made = metaOf(
      await ask("made", "POST", maps(ns), map("m", { a: "1" }, { labels: { l: "1" }, annotations: { n: "1" } })),
    );
    const put = metaOf(await ask("without a revision", "PUT", `${maps(ns)}/m`, map("m", { a: "2" })));
    note("uid stays", made.uid === put.uid);
    note("revision moves", made.resourceVersion !== put.resourceVersion);
    const same = metaOf(await ask("the same again", "PUT", `${maps(ns)}/m`, map("m", { a: "2" })));
    note("revision stays", same.resourceVersion === put.resourceVersion);
    await ask("of a past revision", "PUT", `${maps(ns)}/m`, map("m", {}, { resourceVersion: made.resourceVersion }));
    await ask(
      "of this revision",
      "PUT",
      `${maps(ns)}/m`,
      map("m", { a: "3" }, { resourceVersion: same.resourceVersion }),
    );
    await ask("of another uid", "PUT", `${maps(ns)}/m`, map("m", {}, { uid: "00000000-0000-4000-8000-000000000000" }));
    await ask("of another name", "PUT", `${maps(ns)}/m`, map("n"));
    await ask("of another namespace", "PUT", `${maps(ns)}/m`, map("m", {}, { namespace: "other" }));
    await ask("of nothing", "PUT", `${maps(ns)}/absent`, map("absent"));
    await ask("as a dry run", "PUT", `${maps(ns)}/m?dryRun=All`, map("m", { dry: "1" }));
    await ask("which changed nothing", "GET", `${maps(ns)}/m`);
  }),
  testCase("patch", async ({ ask, note, ns }) => {
    const made = metaOf(await ask("made", "POST", maps(ns), map("m", { a: "1", b: "2" })));
    await ask(
      "merge",
      "PATCH",
      `${maps(ns)}/m`,
      { data: { a: null, c: "3" }, metadata: { labels: { x: "y" } } },
      merge,
    );
    const before = metaOf(await ask("merge of nothing", "PATCH", `${maps(ns)}/m`, {}, merge));
    const after = metaOf(await ask("and again", "PATCH", `${maps(ns)}/m`, { data: { c: "3" } }, merge));
    note("revision stays", before.resourceVersion === after.resourceVersion);
    await ask(
      "merge fenced by a past revision",
      "PATCH",
      `${maps(ns)}/m`,
      { metadata: { resourceVersion: made.resourceVersion }, data: { d: "4" } },
      merge,
    );
    await ask(
      "merge fenced by this revision",
      "PATCH",
      `${maps(ns)}/m`,
      { metadata: { resourceVersion: after.resourceVersion }, data: { d: "4" } },
      merge,
    );
    await ask(
      "json",
      "PATCH",
      `${maps(ns)}/m`,
      [
        { op: "add", path: "/data/e", value: "5" },
        { op: "remove", path: "/data/b" },
      ],
      json,
    );
    await ask(
      "json that fails its test",
      "PATCH",
      `${maps(ns)}/m`,
      [{ op: "test", path: "/data/e", value: "6" }],
      json,
    );
    await ask("json that removes nothing", "PATCH", `${maps(ns)}/m`, [{ op: "remove", path: "/data/zz" }], json);
    await ask("json that is no list", "PATCH", `${maps(ns)}/m`, {}, json);
    await ask("json of an unknown operation", "PATCH", `${maps(ns)}/m`, [{ op: "twist", path: "/data" }], json);
    await ask("strategic", "PATCH", `${maps(ns)}/m`, { data: { f: "6" } }, strategic);
    await ask(
      "of another uid",
      "PATCH",
      `${maps(ns)}/m`,
      { metadata: { uid: "00000000-0000-4000-8000-000000000000" } },
      merge,
    );
    await ask("of another name", "PATCH", `${maps(ns)}/m`, { metadata: { name: "n" } }, merge);
    await ask("of nothing", "PATCH", `${maps(ns)}/absent`, {}, merge);
    await ask("not JSON", "PATCH", `${maps(ns)}/m`, "{", merge);
    await ask("of a value that cannot be", "PATCH", `${maps(ns)}/m`, { metadata: { labels: { "a b": "c" } } }, merge);
    await ask("of a type that cannot be", "PATCH", `${maps(ns)}/m`, { data: { a: 1 } }, merge);
  }),
  testCase("strict patches", async ({ api, ask, ns }) => {
    await api.call("POST", maps(ns), map("m", { a: "1" }));
    const strictly = `${maps(ns)}/m?fieldValidation=Strict`;
    await ask("of an unknown field, merged", "PATCH", strictly, { more: { b: "1" } }, merge);
    await ask("of an unknown field, step by step", "PATCH", strictly, [{ op: "add", path: "/more", value: 1 }], json);
    await ask("of an unknown field, strategically", "PATCH", strictly, { more: { b: "1" } }, strategic);
    await ask("of a known one", "PATCH", strictly, { data: { b: "1" } }, merge);
  }),
  testCase("pod changes", async ({ ask, note, ns }) => {
    const made = metaOf(await ask("made", "POST", pods(ns), pod("p")));
    await ask("labels", "PATCH", `${pods(ns)}/p`, { metadata: { labels: { a: "b" } } }, merge);
    await ask(
      "image",
      "PATCH",
      `${pods(ns)}/p`,
      { spec: { containers: [{ name: "main", image: "busybox:2" }] } },
      strategic,
    );
    await ask("another field", "PATCH", `${pods(ns)}/p`, { spec: { restartPolicy: "Always" } }, merge);
    await ask("status through the main door", "PATCH", `${pods(ns)}/p`, { status: { phase: "Running" } }, merge);
    await ask(
      "status through its own",
      "PATCH",
      `${pods(ns)}/p/status`,
      { status: { phase: "Running", podIP: "10.1.1.1" } },
      merge,
    );
    await ask(
      "spec through the status door",
      "PATCH",
      `${pods(ns)}/p/status`,
      { spec: { restartPolicy: "Always" }, metadata: { labels: { c: "d" } } },
      merge,
    );
    const now = metaOf(await ask("read", "GET", `${pods(ns)}/p`));
    note("generation", [made.generation, now.generation]);
    await ask("read through the status door", "GET", `${pods(ns)}/p/status`);
    await ask("bound", "POST", `${pods(ns)}/p/binding`, {
      apiVersion: "v1",
      kind: "Binding",
      metadata: { name: "p" },
      target: { kind: "Node", name: "nowhere" },
    });
    await ask("bound again", "POST", `${pods(ns)}/p/binding`, {
      apiVersion: "v1",
      kind: "Binding",
      metadata: { name: "p" },
      target: { kind: "Node", name: "elsewhere" },
    });
    await ask("and read", "GET", `${pods(ns)}/p`);
  }),
  testCase("immutable", async ({ ask, ns }) => {
    await ask("made", "POST", maps(ns), { ...map("m"), immutable: true });
    await ask("data", "PATCH", `${maps(ns)}/m`, { data: { a: "2" } }, merge);
    await ask("immutability", "PATCH", `${maps(ns)}/m`, { immutable: null }, merge);
    await ask("labels", "PATCH", `${maps(ns)}/m`, { metadata: { labels: { a: "b" } } }, merge);
  }),
  testCase("apply", async ({ ask, note, ns }) => {
    const type = { "content-type": "application/apply-patch+yaml" };
    const path = `${maps(ns)}/m`;
    await ask("without a manager", "PATCH", path, map("m"), type);
    const made = metaOf(
      await ask("made", "PATCH", `${path}?fieldManager=one&force=true`, map("m", { a: "1", b: "2" }), type),
    );
    const same = metaOf(
      await ask("the same", "PATCH", `${path}?fieldManager=one&force=true`, map("m", { a: "1", b: "2" }), type),
    );
    note("revision stays", made.resourceVersion === same.resourceVersion);
    await ask("less", "PATCH", `${path}?fieldManager=one`, map("m", { a: "1" }), type);
    await ask("another manager, another field", "PATCH", `${path}?fieldManager=two`, map("m", { c: "3" }), type);
    await ask(
      "another manager, the same field",
      "PATCH",
      `${path}?fieldManager=two`,
      map("m", { a: "9", c: "3" }),
      type,
    );
    await ask("by force", "PATCH", `${path}?fieldManager=two&force=true`, map("m", { a: "9", c: "3" }), type);
    await ask("the first gives up", "PATCH", `${path}?fieldManager=one`, map("m", {}), type);
    await ask(
      "a service",
      "PATCH",
      `/api/v1/namespaces/${ns}/services/s?fieldManager=one&force=true`,
      {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "s" },
        spec: { clusterIP: "None", ports: [{ name: "a", port: 1 }] },
      },
      type,
    );
    await ask(
      "with another port",
      "PATCH",
      `/api/v1/namespaces/${ns}/services/s?fieldManager=one&force=true`,
      {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "s" },
        spec: { clusterIP: "None", ports: [{ name: "b", port: 2 }] },
      },
      type,
    );
  }),
];
