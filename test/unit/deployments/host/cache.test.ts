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

const over = (watched: readonly Stored[] | undefined, reached: () => string | undefined = () => "99") =>
  openStepCache({
    known: ({ kind, namespace }) => {
      const get = (_: string, name: string) => watched?.find(({ metadata }) => metadata.name === name);
      const all = { get, values: () => watched ?? [], reached };
      return watched === undefined || kind !== "App" || namespace !== "ns" ? undefined : all;
    },
    resourceOf: (kind) => (kind === "App" ? apps : undefined),
  });

describe("what was kept of a key", () => {
  const annotations = { "kubectl.kubernetes.io/last-applied-configuration": "{}" };
  const rows: readonly (readonly [
    why: string,
    watched: readonly Stored[] | undefined,
    there: boolean,
    was?: Stored,
  ])[] = [
    ["is there while the object is as it was", [app()], true],
    ["also when only its status was written", [app({ resourceVersion: "9" }, { status: { phase: "b" } })], true],
    ["also when the watch is behind our own write of it", [app({ resourceVersion: "0" })], true],
    ["also with what nobody watches of it", [app()], true, app({ annotations })],
    ["not after its spec has changed", [app({ generation: 4 })], false],
    ["not after its annotations have", [app({ annotations: { "rekindle.dev/paused": "true" } })], false],
    ["not when it is being deleted", [app({ deletionTimestamp: "2026-11-02T08:00:00Z" })], false],
    ["not when another has its name", [app({ uid: "v" })], false],
    ["not when it is gone", [app({ name: "b" })], false],
    ["not while nobody knows", undefined, false],
  ];
  for (const [why, watched, there, was] of rows)
    test(why, () => {
      const cache = over(watched?.map(trim));
      cache.keep(key, kept(was));
      assert.equal(cache.take(key) !== undefined, there);
    });

  test("is given out once", () => {
    const cache = over([app()]);
    cache.keep(key, kept());
    assert.ok(cache.take(key));
    assert.equal(cache.take(key), undefined);
  });

  test("is forgotten when two thousand others were kept since", () => {
    const cache = over([app()]);
    cache.keep(key, kept());
    for (let other = 0; other < 2_000; other++) cache.keep({ ...key, name: `b${other}` }, kept());
    assert.equal(cache.take(key), undefined);
  });
});

describe("a new object", () => {
  const appearedIn = (watched: readonly Stored[]) => {
    const cache = over(watched);
    cache.keep({ ...key, name: "other" }, { ...kept(), epoch: { date: 7, at: 9 } });
    cache.keep({ ...key, name: "another" }, { ...kept(), epoch: { date: 5, at: 8 } });
    return cache.appeared(key);
  };

  test("is known whole, with the latest that was read of the server's clock", () =>
    assert.deepEqual(appearedIn([trimWith(app())]), { object: app(), epoch: { date: 7, at: 9 } }));

  test("is not, where only what is kept of it is", () => assert.equal(appearedIn([trim(app())]), undefined));

  test("is not while nothing was read", () => assert.equal(over([trimWith(app())]).appeared(key), undefined));
});

describe("a list of what is watched", () => {
  const labelled = (name: string, labels: Readonly<Record<string, string>>) => app({ name, labels });
  const watched = [labelled("p", { app: "a", role: "x" }), labelled("q", { app: "b" }), labelled("r", { app: "a" })];
  const query = { do: "list", resource: pods, namespace: "ns" } as const;

  test("holds those with all the labels", () => {
    const names = (labels: Readonly<Record<string, string>>) =>
      over(watched)
        .look(key, { ...query, labels })
        ?.map(({ metadata }) => metadata.name);
    assert.deepEqual(names({ app: "a" }), ["p", "r"]);
    assert.deepEqual(names({ app: "a", role: "x" }), ["p"]);
  });

  test("holds those of all namespaces where it is asked for them", () => {
    const found = openStepCache({
      resourceOf: () => apps,
      known: ({ namespace }) =>
        namespace === "" ? { get: () => undefined, values: () => watched, reached: () => "99" } : undefined,
    }).look(key, { ...query, namespace: "", labels: { app: "a" } });
    assert.deepEqual(
      found?.map(({ metadata }) => metadata.name),
      ["p", "r"],
    );
  });

  test("is none where a field is asked for, of which nothing is kept", () =>
    assert.equal(over(watched).look(key, { ...query, labels: {}, field: "metadata.name=p" }), undefined));

  test("is none while not everything is known", () =>
    assert.equal(over(undefined).look(key, { ...query, labels: {} }), undefined));
});

describe("one that is watched", () => {
  const ref = { resource: pods, namespace: "ns", name: "p" };
  const one = app({ name: "p" });
  const get = (_: string, name: string) => (name === "p" ? one : undefined);
  const by = (whose: string | undefined) =>
    openStepCache({
      resourceOf: () => apps,
      known: ({ kind }) => (kind === whose ? { get, values: () => [one], reached: () => "99" } : undefined),
    });

  test("is known to whoever watches it, or by whoever watches all of it", () => {
    assert.deepEqual(by("App").look(key, { do: "get", ref }), [one]);
    assert.deepEqual(by(undefined).look(key, { do: "get", ref }), [one]);
  });

  test("is read when it was not seen to be there, or nobody watches", () => {
    assert.equal(by("App").look(key, { do: "get", ref: { ...ref, name: "q" } }), undefined);
    assert.equal(by("Other").look(key, { do: "get", ref }), undefined);
  });
});

describe("what was made by a step", () => {
  const labels = { app: "a" };
  const list = { do: "list", resource: pods, namespace: "ns", labels } as const;
  const made = (more: Partial<Stored["metadata"]> = {}) => app({ name: "p", labels, resourceVersion: "100", ...more });
  const rows: readonly (readonly [why: string, reached: string | undefined, version: string, there: boolean])[] = [
    ["is there while the watch has not come to it", "99", "100", true],
    ["and while nobody knows how far it came", undefined, "100", true],
    ["not when the watch has passed it, and does not show it", "100", "100", false],
    ["also when one is longer than the other", "1000", "999", false],
    ["not when the versions tell nothing of their order", "99", "x100", false],
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

  test("stands for what had its name", () => {
    const cache = over([made({ uid: "old", resourceVersion: "9" })]);
    cache.made(key, pods, made());
    assert.deepEqual(
      cache.look(key, list)?.map(({ metadata }) => metadata.uid),
      ["u"],
    );
  });

  test("counts where it is of another resource, namespace or label as little as any other", () => {
    const cache = over([]);
    cache.made(key, { ...pods, plural: "others" }, made());
    cache.made(key, pods, made({ labels: {} }));
    cache.made(key, pods, made({ namespace: "elsewhere" }));
    assert.deepEqual(cache.look(key, list), []);
  });

  test("makes firm what is watched, until there is a doubt", () => {
    let reached = "99";
    const cache = over([made({ uid: "old", resourceVersion: "9" })], () => reached);
    const firm = { do: "get", ref: { resource: pods, namespace: "ns", name: "p" }, known: "firm" } as const;
    cache.made(key, pods, made());
    assert.equal(cache.look(key, firm), undefined);
    reached = "100";
    assert.equal(cache.look(key, firm)?.length, 1);
    cache.invalidate(key);
    assert.equal(cache.look(key, firm), undefined);
  });

  test("is forgotten once it was passed, and when five thousand others were made since", () => {
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

  test("is bounded: of a tenant's steps with a megabyte each some dozens are kept, and those of others, too", () => {
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

  test("is bounded for created objects; of a pod the part that the watch has is kept", () => {
    const mind = openCacheState();
    const all = { get: () => undefined, values: () => [], reached: () => "5" };
    const cache = openStepCache({ known: () => all, resourceOf: () => apps }, mind);
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
