/**
 * The cache of a host: the last record of a key counts while its object is unchanged, and watched objects are indexed
 * by labels.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import { type CacheState, openCacheState, openStepCache } from "../../../../shared/deployments/host/cache.ts";
import type { CachedStep } from "../../../../shared/engine/context/world.ts";
import { pods } from "../../../../shared/kube/resources.ts";
import { trim, trimWith } from "../../../../shared/kube/trim.ts";

const key = { cluster: "here", kind: "App", namespace: "ns", name: "a" };
const apps = { group: "x", version: "v1", plural: "apps", kind: "App" };

const app = (metadata: Partial<Stored["metadata"]> = {}, more: object = {}): Stored => ({
  apiVersion: "x/v1",
  kind: "App",
  metadata: { name: "a", namespace: "ns", uid: "u", resourceVersion: "1", generation: 3, ...metadata },
  spec: { size: 1 },
  ...more,
});

const kept = (object: Stored = app()): CachedStep => ({
  record: { schema: 1, cluster: "c", uid: "u", saves: 1, memory: {} },
  version: "1",
  object,
  epoch: { date: 0, at: 0 },
});

/** Watched objects that a fake forwarder knows. */
const knowing = (watched: readonly Stored[], reached: () => string | undefined = () => "99") => ({
  get: (_: string, name: string) => watched.find(({ metadata }) => metadata.name === name),
  values: () => watched,
  labelled: (label: string, value: string) => watched.filter(({ metadata }) => metadata.labels?.[label] === value),
  reached,
});

const over = (watched: readonly Stored[] | undefined, reached: () => string | undefined = () => "99") =>
  openStepCache({
    known: ({ kind, namespace }) =>
      watched === undefined || kind !== "App" || namespace !== "ns" ? undefined : knowing(watched, reached),
    resourceOf: (kind) => (kind === "App" ? apps : undefined),
  });

describe("the cached step of a key", () => {
  const annotations = { "kubectl.kubernetes.io/last-applied-configuration": "{}" };
  const rows: readonly (readonly [
    why: string,
    watched: readonly Stored[] | undefined,
    there: boolean,
    was?: Stored,
  ])[] = [
    ["is valid while the object is unchanged", [app()], true],
    ["is valid after only the status was written", [app({ resourceVersion: "9" }, { status: { phase: "b" } })], true],
    ["is valid while the watch is behind the process's own write", [app({ resourceVersion: "0" })], true],
    ["is valid without the fields that the watch trims", [app()], true, app({ annotations })],
    ["is invalid after a change of the spec", [app({ generation: 4 })], false],
    ["is invalid after a change of the annotations", [app({ annotations: { "rekindle.dev/paused": "true" } })], false],
    ["is invalid once the object is being deleted", [app({ deletionTimestamp: "2026-11-02T08:00:00Z" })], false],
    ["is invalid for another object of the name", [app({ uid: "v" })], false],
    ["not when it is gone", [app({ name: "is invalid once the object is gone" })], false],
    ["is invalid while the watch is not synced", undefined, false],
  ];
  for (const [why, watched, there, was] of rows)
    test(why, () => {
      const cache = over(watched?.map(trim));
      cache.keep(key, kept(was));
      assert.equal(cache.take(key) !== undefined, there);
    });

  test("is returned once", () => {
    const cache = over([app()]);
    cache.keep(key, kept());
    assert.ok(cache.take(key));
    assert.equal(cache.take(key), undefined);
  });

  test("is evicted after two thousand other keys", () => {
    const cache = over([app()]);
    cache.keep(key, kept());
    for (let other = 0; other < 2_000; other++) cache.keep({ ...key, name: `b${other}` }, kept());
    assert.equal(cache.take(key), undefined);
  });
});

describe("an object that has changed since the last step of its key", () => {
  const changedIn = (watched: Stored) => {
    const cache = over([watched]);
    cache.keep(key, kept());
    return cache.changed(key);
  };
  const next = app({ generation: 4, resourceVersion: "5" });

  test("is returned whole with that step, which is still there to be taken", () => {
    assert.deepEqual(changedIn(trimWith(next)), { step: kept(), object: next, epoch: { date: 0, at: 0 } });
  });

  test("is not returned if the watch has it trimmed, but the step is", () => {
    assert.deepEqual(changedIn(trim(next)), { step: kept(), object: undefined, epoch: { date: 0, at: 0 } });
  });

  test("is none if it is unchanged, or another object of the name", () => {
    assert.equal(changedIn(trim(app({ resourceVersion: "9" }))), undefined);
    assert.equal(changedIn(trim(app({ uid: "v" }))), undefined);
  });
});

describe("a new object in the watch", () => {
  const appearedIn = (watched: readonly Stored[]) => {
    const cache = over(watched);
    cache.keep({ ...key, name: "other" }, { ...kept(), epoch: { date: 7, at: 9 } });
    cache.keep({ ...key, name: "another" }, { ...kept(), epoch: { date: 5, at: 8 } });
    return cache.appeared(key);
  };

  test("is returned whole, with the latest reading of the server's clock", () =>
    assert.deepEqual(appearedIn([trimWith(app())]), { object: app(), epoch: { date: 7, at: 9 } }));

  test("is not returned if the watch has it trimmed only", () => assert.equal(appearedIn([trim(app())]), undefined));

  test("is returned with a reading of the server's clock that another read has brought since", () => {
    const watched = knowing([trimWith(app())]);
    const times = [9, 8].map((at) => {
      const epoch = { date: 8, at };
      const cache = openStepCache({ resourceOf: () => apps, known: () => watched, serverTime: () => epoch });
      const first = cache.appeared(key)?.epoch;
      cache.keep({ ...key, name: "other" }, { ...kept(), epoch: { date: 7, at: 8.5 } });
      return [first, cache.appeared(key)?.epoch];
    });
    assert.deepEqual(times, [
      [
        { date: 8, at: 9 },
        { date: 8, at: 9 },
      ],
      [
        { date: 8, at: 8 },
        { date: 7, at: 8.5 },
      ],
    ]);
  });

  test("is not returned before any read of the server's clock", () =>
    assert.equal(over([trimWith(app())]).appeared(key), undefined));
});

describe("a list from the watch", () => {
  const labelled = (name: string, labels: Readonly<Record<string, string>>) => app({ name, labels });
  const watched = [labelled("p", { app: "a", role: "x" }), labelled("q", { app: "b" }), labelled("r", { app: "a" })];
  const query = { do: "list", resource: pods, namespace: "ns" } as const;

  test("has the objects with all the labels", () => {
    const names = (labels: Readonly<Record<string, string>>) =>
      over(watched)
        .look(key, { ...query, labels })
        ?.map(({ metadata }) => metadata.name);
    assert.deepEqual(names({ app: "a" }), ["p", "r"]);
    assert.deepEqual(names({ app: "a", role: "x" }), ["p"]);
  });

  test("has the objects of all namespaces if the query names none", () => {
    const found = openStepCache({
      resourceOf: () => apps,
      known: ({ namespace }) => (namespace === "" ? knowing(watched) : undefined),
    }).look(key, { ...query, namespace: "", labels: { app: "a" } });
    assert.deepEqual(
      found?.map(({ metadata }) => metadata.name),
      ["p", "r"],
    );
  });

  test("is undefined for a query by field, because the watch is not indexed by fields", () =>
    assert.equal(over(watched).look(key, { ...query, labels: {}, field: "metadata.name=p" }), undefined));

  test("is undefined while the watch is not synced", () =>
    assert.equal(over(undefined).look(key, { ...query, labels: {} }), undefined));
});

describe("a single object of the watch", () => {
  const ref = { resource: pods, namespace: "ns", name: "p" };
  const one = app({ name: "p" });
  const by = (whose: string | undefined) =>
    openStepCache({
      resourceOf: () => apps,
      known: ({ kind }) => (kind === whose ? knowing([one]) : undefined),
    });

  test("is returned to the kind that watches it, or by a watch of the whole resource", () => {
    assert.deepEqual(by("App").look(key, { do: "get", ref }), [one]);
    assert.deepEqual(by(undefined).look(key, { do: "get", ref }), [one]);
  });

  test("is undefined if the watch does not have it, or if the kind does not watch it", () => {
    assert.equal(by("App").look(key, { do: "get", ref: { ...ref, name: "q" } }), undefined);
    assert.equal(by("Other").look(key, { do: "get", ref }), undefined);
  });
});

describe("an object that a step created", () => {
  const labels = { app: "a" };
  const list = { do: "list", resource: pods, namespace: "ns", labels } as const;
  const made = (more: Partial<Stored["metadata"]> = {}) => app({ name: "p", labels, resourceVersion: "100", ...more });
  const rows: readonly (readonly [why: string, reached: string | undefined, version: string, there: boolean])[] = [
    ["is in the cache while the watch has not reached it", "99", "100", true],
    ["is in the cache while the watch's version is unknown", undefined, "100", true],
    ["is not in the cache when the watch has passed it without showing it", "100", "100", false],
    ["is not in the cache when the watch has passed it with a longer version", "1000", "999", false],
    ["is not in the cache if versions have no order", "99", "x100", false],
  ];
  for (const [why, reached, resourceVersion, there] of rows)
    test(why, () => {
      const cache = over([app({ name: "q", labels })], () => reached);
      cache.made(key, pods, made({ resourceVersion }));
      const names = cache.look(key, list)?.map(({ metadata }) => metadata.name);
      assert.deepEqual(names, there ? ["q", "p"] : ["q"]);
      const one = cache.look(key, { do: "get", ref: { resource: pods, namespace: "ns", name: "p" } });
      assert.equal(one !== undefined, there);
    });

  test("replaces an older object of its name", () => {
    const cache = over([made({ uid: "old", resourceVersion: "9" })]);
    cache.made(key, pods, made());
    assert.deepEqual(
      cache.look(key, list)?.map(({ metadata }) => metadata.uid),
      ["u"],
    );
  });

  test("is not in lists of another resource, namespace or label", () => {
    const cache = over([]);
    cache.made(key, { ...pods, plural: "others" }, made());
    cache.made(key, pods, made({ labels: {} }));
    cache.made(key, pods, made({ namespace: "elsewhere" }));
    assert.deepEqual(cache.look(key, list), []);
  });

  test("requires the watch to reach it before the cache is up to date, until the key is invalidated", () => {
    let reached = "99";
    const cache = over([made({ uid: "old", resourceVersion: "9" })], () => reached);
    const one = { do: "get", ref: { resource: pods, namespace: "ns", name: "p" } } as const;
    cache.made(key, pods, made());
    assert.equal(cache.look(key, one, "current"), undefined);
    reached = "100";
    assert.equal(cache.look(key, one, "current")?.length, 1);
    cache.invalidate(key);
    assert.equal(cache.look(key, one, "current"), undefined);
  });

  test("requires the watch to reach it before a second look comes from the watch", () => {
    let reached = "99";
    const cache = over([app({ name: "q", labels })], () => reached);
    assert.equal(cache.look(key, list, "current"), undefined);
    cache.made(key, pods, made());
    assert.equal(cache.look(key, list, "current"), undefined);
    reached = "100";
    assert.equal(cache.look(key, list, "current")?.length, 1);
    cache.invalidate(key);
    assert.equal(cache.look(key, list, "current"), undefined);
  });

  test("is evicted once the watch has passed it, and after five thousand other objects", () => {
    let reached = "100";
    const cache = over([], () => reached);
    cache.made(key, pods, made());
    assert.deepEqual(cache.look(key, list), []);
    reached = "1";
    assert.deepEqual(cache.look(key, list), []);
    for (let other = 0; other <= 5_000; other++) cache.made(key, pods, made({ name: `p-${other}` }));
    assert.equal(cache.look(key, list)?.length, 5_000);
  });
});

describe("the memory of the cache", () => {
  const large = (at: number, namespace = "ns"): Stored =>
    app({ name: `a${at}`, namespace, resourceVersion: "9", annotations: { text: `${at}`.padEnd(1_000_000) } });
  const keyOf = ({ metadata: { name, namespace = "" } }: Stored) => ({ ...key, name, namespace });
  const keptIn = (mind: CacheState): readonly string[] => [...mind.kept.keys()];

  test("is bounded: of one tenant's large steps some dozens are kept, and other tenants' steps are kept, too", () => {
    const mind = openCacheState();
    const cache = openStepCache({ known: () => undefined, resourceOf: () => apps }, mind);
    for (let at = 0; at < 200; at += 1) cache.keep(keyOf(large(at)), kept(large(at)));
    assert.ok(keptIn(mind).length > 10 && keptIn(mind).length < 40, `${keptIn(mind).length}`);
    const other = large(0, "other");
    cache.keep(keyOf(other), kept(other));
    assert.ok(keptIn(mind).some((id) => id.includes("other")));
    for (let at = 0; at < 200; at += 1) cache.take(keyOf(large(at)));
    for (let at = 0; at < 200; at += 1) cache.keep(keyOf(large(at)), kept(large(at)));
    assert.ok(keptIn(mind).length > 10);
  });

  test("is bounded for created objects, and a created pod is kept trimmed as in the watch", () => {
    const mind = openCacheState();
    const cache = openStepCache({ known: () => knowing([], () => "5"), resourceOf: () => apps }, mind);
    for (let at = 0; at < 200; at += 1) cache.made(key, apps, large(at));
    assert.ok(mind.made.objects.size < 20);
    const pod: Stored = {
      ...app(),
      kind: "Pod",
      apiVersion: "v1",
      spec: { containers: [{ env: "x".repeat(50_000) }] },
    };
    cache.made(key, pods, { ...pod, metadata: { ...pod.metadata, namespace: "other", resourceVersion: "9" } });
    const [found] = cache.look(key, { do: "list", resource: pods, namespace: "other", labels: {} }) ?? [];
    assert.deepEqual([found?.metadata.name, found?.["spec"]], ["a", {}]);
  });
});
