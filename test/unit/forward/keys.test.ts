/** From changes to keys: the keys that are sent, under which id, and those that are not. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { dedupe } from "../../../shared/core/key.ts";
import type { Stored } from "../../../shared/core/object.ts";
import type { Watch, Watcher } from "../../../shared/core/operator.ts";
import { loopsOf } from "../../../shared/forward/forwarder.ts";
import { type Change, sendingsOf, subjectsOf } from "../../../shared/forward/keys.ts";

const apps = { group: "g", version: "v1", plural: "apps", kind: "App" } as const;
const crons = { group: "g", version: "v1", plural: "crons", kind: "Cron" } as const;
const pods = { group: "", version: "v1", plural: "pods", kind: "Pod" } as const;

const owner: Watch["ownerName"] = (object) => object.metadata.labels?.["app"];
const generation: Watch["matters"] = (before, after) => before?.metadata.generation !== after.metadata.generation;
const always: Watch["matters"] = () => true;

const app: Watcher = {
  kind: "App",
  resource: apps,
  watches: [
    { resource: apps, ownerName: ({ metadata }) => metadata.name, matters: generation },
    { resource: pods, selector: "ours=true", ownerName: owner, matters: always },
  ],
};
const cron: Watcher = {
  kind: "Cron",
  resource: crons,
  watches: [{ resource: apps, ownerName: ({ metadata }) => metadata.labels?.["cron"], matters: always }],
};

const stored = (kind: string, name: string, more: Partial<Stored["metadata"]> = {}): Stored => ({
  apiVersion: "v1",
  kind,
  metadata: { name, namespace: "ns", uid: `uid-${name}`, resourceVersion: "1", ...more },
});

const subjectOf = (plural: string, watchers: readonly Watcher[] = [app, cron]) => {
  const [found] = subjectsOf(watchers).filter(({ resource }) => resource.plural === plural);
  assert.ok(found);
  return found;
};

/** Returns `kind/name` of every key that is sent. */
const told = (plural: string, change: Change): readonly string[] =>
  sendingsOf("c1", subjectOf(plural), change).map(({ message }) => `${message.kind}/${message.name}`);

describe("a cluster-scoped kind", () => {
  const pool: Watcher = {
    kind: "Pool",
    resource: { group: "g", version: "v1", plural: "pools", kind: "Pool" },
    scope: "Cluster",
    watches: [{ resource: pods, ownerName: owner, matters: always }],
  };

  it("has keys without a namespace for changes in namespaces, and ignores the selector of labels", () => {
    const own: Watcher = { ...pool, watches: [{ resource: pool.resource, ownerName: owner, matters: always }] };
    const after = stored("Pod", "p", { labels: { app: "a" } });
    const [sending] = sendingsOf("c1", subjectOf("pods", [pool]), { before: undefined, after });
    assert.deepEqual([sending?.message.namespace, sending?.message.name], ["", "a"]);
    assert.equal(subjectsOf([own], "team=data")[0]?.selector, undefined);
  });

  it("is watched only by a forwarder of all namespaces", () => {
    const scope = { operators: [pool, app], selector: undefined };
    const pools = (namespaces: readonly string[]) =>
      loopsOf({ ...scope, namespaces }).filter(({ subject }) => subject.interests.some(({ kind }) => kind === "Pool"));
    assert.deepEqual([pools([]).length, pools(["ns"]).length], [1, 0]);
  });
});

describe("the watched subjects", () => {
  it("are one for each resource and selector, for all interested kinds", () => {
    const subjects = subjectsOf([app, cron]);
    assert.deepEqual(
      subjects.map(({ resource, selector, interests }) => [
        resource.plural,
        selector,
        interests.map(({ kind }) => kind),
      ]),
      [
        ["apps", undefined, ["App", "Cron"]],
        ["pods", "ours=true", ["App"]],
      ],
    );
  });

  it("select the operators' own objects by the selector, but not their children", () => {
    const selectors = subjectsOf([app], "team=a").map(({ resource, selector }) => [resource.plural, selector]);
    assert.deepEqual(selectors, [
      ["apps", "team=a"],
      ["pods", "ours=true"],
    ]);
  });

  it("keep the fields that every interested kind needs", () => {
    const spec = (object: Stored): Stored => ({ ...stored(object.kind, object.metadata.name), spec: object["spec"] });
    const greedy: Watcher = { ...app, watches: [{ resource: pods, ownerName: owner, matters: always, trim: spec }] };
    const plain: Watcher = { ...app, watches: [{ resource: pods, ownerName: owner, matters: always }] };
    const pod = { ...stored("Pod", "p"), spec: { a: 1 }, status: { phase: "Failed", podIP: "1.2.3.4" } };
    const kept = { ...stored("Pod", "p"), spec: { a: 1 }, status: { phase: "Failed" } };
    assert.deepEqual(subjectOf("pods", [greedy]).trim(pod), { ...stored("Pod", "p"), spec: { a: 1 } });
    assert.deepEqual(subjectOf("pods", [greedy, plain]).trim(pod), kept);
  });
});

describe("a change", () => {
  const before = stored("App", "a", { generation: 1, labels: { cron: "nightly" } });
  const rows: Record<string, { plural: string; change: Change; keys: readonly string[] }> = {
    "of an object sends its own key and its parent's": {
      plural: "apps",
      change: { before, after: { ...before, metadata: { ...before.metadata, generation: 2 } } },
      keys: ["App/a", "Cron/nightly"],
    },
    "of a status sends the parent's key only": {
      plural: "apps",
      change: { before, after: { ...before, metadata: { ...before.metadata, resourceVersion: "2" } } },
      keys: ["Cron/nightly"],
    },
    "that deletes an object sends its keys, whether or not it matters": {
      plural: "apps",
      change: { before, after: undefined },
      keys: ["App/a", "Cron/nightly"],
    },
    "of a child sends its owner's key": {
      plural: "pods",
      change: { before: undefined, after: stored("Pod", "p", { labels: { app: "a" } }) },
      keys: ["App/a"],
    },
    "of a child without an owner sends no key": {
      plural: "pods",
      change: { before: undefined, after: stored("Pod", "p") },
      keys: [],
    },
    "of a child's owner sends both owners' keys": {
      plural: "pods",
      change: {
        before: stored("Pod", "p", { labels: { app: "a" } }),
        after: stored("Pod", "p", { labels: { app: "b" } }),
      },
      keys: ["App/a", "App/b"],
    },
  };
  for (const [name, { plural, change, keys }] of Object.entries(rows)) {
    it(name, () => assert.deepEqual(told(plural, change), keys));
  }

  it("has an id that is the same for every forwarder", () => {
    const key = { cluster: "c1", kind: "App", namespace: "ns", name: "a" };
    const after = stored("Pod", "p", { labels: { app: "a" }, resourceVersion: "7" });
    const [seen] = sendingsOf("c1", subjectOf("pods"), { before: undefined, after });
    assert.deepEqual(seen, {
      message: { ...key, reason: "Pod p new", resourceVersion: "7", watched: true },
      dedupeId: dedupe.watch(key, { kind: "Pod", uid: "uid-p", resourceVersion: "7" }),
    });
    const [appeared] = sendingsOf("c1", subjectOf("apps"), {
      before: undefined,
      after: stored("App", "a", { generation: 1 }),
    });
    assert.deepEqual([appeared?.message.reason, appeared?.message.fresh], ["App a new", true]);
    const [gone] = sendingsOf("c1", subjectOf("pods"), { before: after, after: undefined });
    assert.equal(gone?.dedupeId, dedupe.gone(key, "uid-p"));
  });
});
