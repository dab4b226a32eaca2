/** The enclosure that a dispatcher puts into a call: objects whole, of complete watches, for messages of the watch, up to a size. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Message } from "../../../shared/core/key.ts";
import type { Stored } from "../../../shared/core/object.ts";
import { longestEnclosure, openEnclosing, openWholeObjects } from "../../../shared/forward/enclosures.ts";
import type { Forwarder } from "../../../shared/forward/forwarder.ts";
import { openObjectCache } from "../../../shared/forward/keys.ts";
import { trim } from "../../../shared/kube/trim.ts";
import { sparkApplicationWatcher } from "../../../shared/spark/application/watches.ts";

const eight = Date.UTC(2026, 10, 2, 8);

const application: Stored = {
  apiVersion: "sparkoperator.k8s.io/v1beta2",
  kind: "SparkApplication",
  metadata: { name: "pi", namespace: "ns", uid: "app-1", resourceVersion: "7" },
  spec: { image: "spark" },
};

const podOf = (name: string, app: string, namespace = "ns", more: object = {}): Stored => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    ...{ name, namespace, uid: `${namespace}-${name}`, resourceVersion: "8" },
    labels: { "sparkoperator.k8s.io/app-name": app },
  },
  status: { phase: "Running", message: "whole" },
  ...more,
});

const driver = podOf("pi-driver", "pi");

const trigger: Message = { cluster: "c", kind: "SparkApplication", namespace: "ns", name: "pi", reason: "trigger" };
const message: Message = { ...trigger, reason: "Pod pi-driver changed", watched: true };

type Given = {
  readonly pods?: readonly Stored[];
  /** Objects that the watch knows trimmed, and nobody whole. */
  readonly forgotten?: readonly Stored[];
  readonly reached?: string | undefined;
  readonly unread?: true;
};

const opened = ({ pods = [driver], forgotten = [], unread, ...more }: Given) => {
  const objects = openWholeObjects(() => true);
  const cacheOf = (all: readonly Stored[]) => {
    const cache = openObjectCache(trim);
    for (const object of all) {
      cache.seen(object);
      if (!forgotten.includes(object)) objects.see(object);
    }
    return cache;
  };
  const caches = new Map([
    ["sparkapplications", cacheOf([application])],
    ["pods", cacheOf(pods)],
  ]);
  const reached = "reached" in more ? more.reached : "9";
  const known: Forwarder["known"] = ({ resource }) => {
    const cache = caches.get(resource.plural);
    return cache === undefined ? undefined : { ...cache, reached: () => reached };
  };
  return openEnclosing({
    ...{ watchers: [sparkApplicationWatcher], known, whole: objects.whole, now: () => 2_500 },
    serverTime: () => (unread ? undefined : { date: eight, at: 1_000 }),
  });
};

describe("a dispatcher", () => {
  test("encloses the object and its pods whole, and the server's clock", () => {
    const pods = [driver, podOf("pi-driver", "pi", "elsewhere"), podOf("other-driver", "other")];
    assert.deepEqual(opened({ pods })([message]), { date: eight + 1_000, object: application, lists: [[driver]] });
  });

  const changed: Stored = { ...driver, metadata: { ...driver.metadata, resourceVersion: "9" } };
  const nothing: readonly { readonly name: string; readonly given?: Given; readonly messages?: readonly Message[] }[] =
    [
      { name: "for a message that is not of the watch", messages: [trigger] },
      { name: "for a batch with a message that is not of the watch", messages: [message, trigger] },
      { name: "for a retry", messages: [{ ...message, tries: 1 }] },
      { name: "for a kind that encloses nothing", messages: [{ ...message, kind: "Job" }] },
      { name: "for an object that the watch does not know", messages: [{ ...message, name: "another" }] },
      { name: "while the watch is in doubt", given: { reached: undefined } },
      { name: "while the server's clock is not known", given: { unread: true } },
      { name: "if it does not hold a pod whole", given: { forgotten: [driver] } },
      {
        name: "if it holds a pod whole in another version only",
        given: { pods: [driver, changed], forgotten: [changed] },
      },
      {
        name: "if the enclosure is too large",
        given: { pods: [{ ...driver, spec: { text: "x".repeat(longestEnclosure) } }] },
      },
    ];
  for (const { name, given = {}, messages = [message] } of nothing)
    test(`encloses nothing ${name}`, () => assert.equal(opened(given)(messages), undefined));
});

describe("the whole objects of a dispatcher", () => {
  test("are dropped when they are deleted, and have no managed fields", () => {
    const objects = openWholeObjects(() => true);
    const managed = { ...driver, metadata: { ...driver.metadata, managedFields: [{ manager: "kubectl" }] } };
    objects.see(managed);
    assert.deepEqual(objects.whole(driver), driver);
    objects.gone(driver);
    assert.equal(objects.whole(driver), undefined);
  });

  test("are the latest thousand of the chosen kinds", () => {
    const objects = openWholeObjects(({ kind }) => kind === "Pod");
    objects.see(application);
    const pods = Array.from({ length: 1_001 }, (_, index) => podOf(`p-${index}`, "pi"));
    for (const pod of pods) objects.see(pod);
    const [first = driver, second = driver] = pods;
    assert.deepEqual([application, first, second].map(objects.whole), [undefined, undefined, second]);
  });
});
