/** Notices: written on the node's pods once, also after deaths and repeated messages. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ApiError } from "../../../shared/core/http.ts";
import { type Message, noticedKind, noticeKey } from "../../../shared/core/key.ts";
import type { Stored } from "../../../shared/core/object.ts";
import { noticesOf } from "../../../shared/deployments/common/notices.ts";
import { type NoticeContext, noticing } from "../../../shared/forward/node-notice.ts";
import { sparkApplicationWatcher } from "../../../shared/spark/application/watches.ts";
import { jobWatcher } from "../../../shared/volcano/job/watches.ts";

const until = Date.parse("2026-11-02T08:02:00Z");
const goes = "2026-11-02T08:02:00Z";
const kind = "SparkApplication";

type Pod = {
  readonly name: string;
  readonly app?: string;
  readonly node?: string;
  readonly more?: object;
  readonly phase?: string;
};

const podOf = ({ name, app = "pi", node = "node-1", more = {}, phase = "Running" }: Pod): Stored => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    ...{ name, namespace: "default", uid: `u-${name}`, resourceVersion: "1" },
    labels: { "sparkoperator.k8s.io/app-name": app, "sparkoperator.k8s.io/launched-by-spark-operator": "true" },
    ...more,
  },
  spec: { nodeName: node },
  status: { phase },
});

const nodeOf = (name: string, providerID?: string): Stored => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name, uid: `u-${name}`, resourceVersion: "1" },
  spec: providerID === undefined ? {} : { providerID },
});

type World = {
  readonly pods?: readonly Stored[];
  readonly nodes?: readonly Stored[];
  readonly hidden?: boolean;
  readonly fails?: (name: string) => ApiError | undefined;
  readonly desk?: Partial<NoticeContext>;
};

const conflict = new ApiError({ status: 409, reason: "Conflict", message: "changed" });
const forbidden = new ApiError({ status: 403, reason: "Forbidden", message: "no" });

const fixture = ({ pods = [], nodes = [], hidden = false, fails = () => undefined, desk = {} }: World) => {
  const written = new Map(pods.map((pod) => [pod.metadata.name, pod]));
  const did: string[] = [];
  const cluster: NoticeContext["cluster"] = {
    list: async ({ resource, namespace, labels, field }) => {
      did.push(`list ${resource.plural} ${[namespace, field, ...Object.entries(labels).flat()].join(" ")}`.trim());
      if (resource.plural === "nodes" && hidden) throw forbidden;
      const on = [...written.values()].filter(({ spec }) => field === `spec.nodeName=${Object(spec).nodeName}`);
      return { value: resource.plural === "nodes" ? nodes : on, date: 0 };
    },
    patch: async ({ name }, fence, patch) => {
      const refusal = fails(name);
      if (refusal !== undefined) throw refusal;
      const pod = written.get(name) ?? podOf({ name });
      const { annotations } = Object(patch["metadata"]);
      did.push(`patch ${name} at ${fence.uid} ${fence.resourceVersion}: ${JSON.stringify(annotations)}`);
      const next = { ...pod, metadata: { ...pod.metadata, annotations } };
      written.set(name, next);
      return next;
    },
  };
  const take = noticing({
    cluster,
    queue: { send: async (message) => void did.push(`send ${message.namespace}/${message.name} ${message.reason}`) },
    report: (level, text) => void did.push(`${level}: ${text}`),
    operatorOf: (name) => (name === kind ? sparkApplicationWatcher : undefined),
    namespaces: [],
    ...desk,
  });
  const told = (node: string, more: Partial<Message> = {}) =>
    take({ ...noticeKey("default", kind, node), reason: "notice", until, ...more });
  const saidToStay = (node: string, more: Partial<Message> = {}) =>
    take({ ...noticeKey("default", kind, node), reason: "notice", stays: true, ...more });
  return { did, told, saidToStay };
};

const listPods = "list pods  spec.nodeName=node-1 sparkoperator.k8s.io/launched-by-spark-operator true";
const marked = (name: string) => `patch ${name} at u-${name} 1: {"rekindle.dev/leaving":"${goes}"}`;
const said = `info: node node-1 goes at ${goes}`;

describe("a notice that a node is about to go", () => {
  test("is written on every pod of the node, and each owner is sent a message", async () => {
    const pods = [
      podOf({ name: "a" }),
      podOf({ name: "b" }),
      podOf({ name: "c", app: "two" }),
      podOf({ name: "d", node: "node-2" }),
    ];
    const { did, told } = fixture({ pods });
    assert.deepEqual(await told("node-1"), { did: "step", writes: 3 });
    assert.deepEqual(did, [
      ...[listPods, listPods],
      ...["a", "b", "c"].map(marked),
      "send default/pi notice",
      "send default/two notice",
      said,
    ]);
  });

  test("is written on the pods of Volcano jobs, and on no other owner's", async () => {
    const labels = { "volcano.sh/job-name": "gang" };
    const pods = [podOf({ name: "gang-w-0", more: { labels } }), podOf({ name: "a" })];
    const operatorOf = () => jobWatcher;
    const { did, told } = fixture({ pods, desk: { operatorOf } });
    assert.deepEqual(await told("node-1", noticeKey("default", "Job", "node-1")), { did: "step", writes: 1 });
    assert.deepEqual(did.slice(2), [marked("gang-w-0"), "send default/gang notice", said]);
  });

  test("is sent for applications and for jobs", () => {
    const kinds = noticesOf("default", "node-1", until).map((message) => noticedKind(message));
    assert.deepEqual(kinds, ["SparkApplication", "Job"]);
  });

  test("writes nothing if it is repeated, or repeated with a later end", async () => {
    const { did, told } = fixture({ pods: [podOf({ name: "a" })] });
    await told("node-1");
    const before = did.length;
    assert.deepEqual(await told("node-1"), { did: "step", writes: 0 });
    assert.deepEqual(await told("node-1", { until: until + 60_000 }), { did: "step", writes: 0 });
    assert.deepEqual(
      did.slice(before).filter((line) => line.startsWith("patch")),
      [],
    );
  });

  test("replaces a later end on a pod by its own earlier one", async () => {
    const more = { annotations: { "rekindle.dev/leaving": "2026-11-02T09:00:00Z" } };
    const { did, told } = fixture({ pods: [podOf({ name: "a", more })] });
    await told("node-1");
    assert.ok(did.includes(marked("a")));
  });

  describe("that the node stays", () => {
    const more = { annotations: { "rekindle.dev/leaving": goes } };
    const pods = [podOf({ name: "a", more }), podOf({ name: "b" })];

    test("removes the earlier notice from its pods, and each owner is sent a message", async () => {
      const { did, saidToStay } = fixture({ pods });
      assert.deepEqual(await saidToStay("node-1"), { did: "step", writes: 1 });
      assert.deepEqual(did.slice(2), [
        'patch a at u-a 1: {"rekindle.dev/leaving":null}',
        "send default/pi notice",
        "info: node node-1 stays",
      ]);
    });

    test("writes the end of a later notice, also where the earlier one named an earlier end", async () => {
      const later = "2026-11-02T09:00:00Z";
      const { did, saidToStay } = fixture({ pods });
      assert.deepEqual(await saidToStay("node-1", { until: Date.parse(later) }), { did: "step", writes: 2 });
      assert.deepEqual(
        did.filter((line) => line.startsWith("patch")).map((line) => line.split(": ")[1]),
        [1, 2].map(() => `{"rekindle.dev/leaving":"${later}"}`),
      );
    });

    test("is followed by a notice as if there had been none", async () => {
      const { did, told, saidToStay } = fixture({ pods });
      await saidToStay("node-1");
      assert.deepEqual(await told("node-1"), { did: "step", writes: 2 });
      assert.ok(did.includes(marked("b")));
    });
  });

  test("ignores pods that have ended, are being deleted, or have no owner", async () => {
    const pods = [
      podOf({ name: "a", phase: "Failed" }),
      podOf({ name: "b", more: { deletionTimestamp: goes } }),
      podOf({ name: "c", more: { labels: {} } }),
    ];
    assert.deepEqual(await fixture({ pods }).told("node-1"), { did: "step", writes: 0 });
  });

  test("leaves alone the pods out of the deployment's scope", async () => {
    const pods = [podOf({ name: "a" }), podOf({ name: "b", app: "two" })];
    const { did, told } = fixture({ pods, desk: { inCharge: ({ name }) => name === "two" } });
    await told("node-1");
    assert.deepEqual(
      did.filter((line) => /^(patch|send)/.test(line)),
      [marked("b"), "send default/two notice"],
    );
  });

  test("lists the pods of the namespaces in scope, and no others", async () => {
    const { did, told } = fixture({ desk: { namespaces: ["one", "two"] } });
    await told("node-1");
    assert.deepEqual(
      did.filter((line) => line.startsWith("list")).map((line) => line.split(" ")[2]),
      ["one", "two", "one", "two"],
    );
  });

  test("is written on the remaining pods by the next delivery if its step dies", async () => {
    let deaths = 1;
    const fails = (name: string) => (name === "b" && deaths-- > 0 ? conflict : undefined);
    const { did, told } = fixture({ pods: [podOf({ name: "a" }), podOf({ name: "b" })], fails });
    await assert.rejects(told("node-1"), conflict);
    assert.deepEqual(await told("node-1"), { did: "step", writes: 1 });
    assert.deepEqual(
      did.filter((line) => line.startsWith("patch")).map((line) => line.slice(0, 7)),
      ["patch a", "patch b"],
    );
  });

  const machines = [
    {
      name: "by its provider id",
      nodes: [nodeOf("node-9", "aws:///a/i-0abc"), nodeOf("node-1", "aws:///eu-west-1a/i-0123456789abcdef0")],
    },
    { name: "by the name of the node", nodes: [nodeOf("i-0123456789abcdef0.eu-west-1.compute.internal")] },
  ];
  for (const { name, nodes } of machines)
    test(`finds the node of a machine ${name}`, async () => {
      const at = nodes.at(-1)?.metadata.name ?? "";
      const { did, told } = fixture({ nodes, pods: [podOf({ name: "a", node: at })] });
      assert.deepEqual(await told("i-0123456789abcdef0"), { did: "step", writes: 1 });
      assert.ok(did.includes(marked("a")));
    });

  test("does nothing if no node of this cluster belongs to the machine", async () => {
    const { told } = fixture({ nodes: [nodeOf("node-1", "aws:///a/i-0abc")], pods: [podOf({ name: "a" })] });
    assert.deepEqual(await told("i-0123456789abcdef0"), {
      did: "nothing",
      why: "no node of this cluster is i-0123456789abcdef0",
    });
  });

  test("logs the missing right if nodes may not be listed, and is given up after three tries", async () => {
    const { did, told } = fixture({ hidden: true, pods: [podOf({ name: "a" })] });
    await assert.rejects(told("i-0123456789abcdef0"), forbidden);
    assert.match(did.at(-1) ?? "", /^error: .*grant it list of nodes$/);
    await assert.rejects(told("i-0123456789abcdef0", { tries: 1 }), forbidden);
    assert.equal((await told("i-0123456789abcdef0", { tries: 2 })).did, "nothing");
  });

  test("writes nothing in a dry run", async () => {
    const { did, told } = fixture({ pods: [podOf({ name: "a" })], desk: { shadow: () => {} } });
    await told("node-1");
    assert.deepEqual(did, []);
  });
});
