/** Executors that the driver of an application of `spark.apache.org` creates: lost ones are told, and what Spark leaves is repaired. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Fields } from "./fixtures.ts";
import { openStand, pathOf, type Stand } from "./stand.ts";

const confs = { "spark.kubernetes.container.image": "x", "spark.executor.instances": "2" };

const two = { instanceConfig: { initExecutors: 2, minExecutors: 2 } };

const stuck = { hangs: true, executors: { "1": { pull: "fails" } } } as const;

const opened = (annotations: Fields, sparkConf: Fields = {}): Stand =>
  openStand({
    metadata: { annotations },
    spec: { sparkConf: { ...confs, ...sparkConf }, applicationTolerations: two },
    scripts: [stuck],
  });

/** The ids of the executors' pods. */
const idsOf = ({ simulator }: Stand): readonly string[] =>
  simulator.store
    .list("pods")
    .flatMap(({ metadata: { labels } }) => labels?.["spark-exec-id"] ?? [])
    .toSorted();

const messagesOf = ({ simulator }: Stand): readonly string[] =>
  simulator.store
    .list("events")
    .filter((event) => event["reason"] === "ExecutorLost")
    .map((event) => String(event["message"]));

/** Deletes the driver's pod at once: the garbage collector comes to its executors later. */
const takeDriver = ({ request }: Stand): void => {
  const path = "/api/v1/namespaces/default/pods/pi-0-driver";
  assert.equal(request("DELETE", path, { gracePeriodSeconds: 0 }), 200);
};

const soon = { "rekindle.dev/executor-pending-timeout": "20s" };

test("an application that asks for a group where none is planned fails with what to change, and has no driver", async () => {
  const metadata = { annotations: { "rekindle.dev/gang": "true" } };
  const stand = openStand({ metadata, spec: { sparkConf: confs }, scripts: [{}] });
  await stand.run(5);
  assert.deepEqual(stand.drivers, []);
  assert.ok(
    stand
      .messages()
      .some((text) =>
        /rekindle\.dev\/gang\]: true needs the setting gang: builtin, .*: set it, or remove the annotation/.test(text),
      ),
  );
});

test("an application that runs already keeps its driver and its allocator when it asks for executors of Rekindle's own", async () => {
  const stand = opened({});
  await stand.run(6);
  const patch = { metadata: { annotations: { "rekindle.dev/executors": "own" } } };
  assert.equal(stand.request("PATCH", pathOf(), patch, "application/merge-patch+json"), 200);
  await stand.run(4);
  assert.match(stand.states()?.at(-1)?.summary ?? "", /^Initialized|^Running/);
  assert.deepEqual(idsOf(stand), ["1", "2"]);
});

describe("an executor that does not start", () => {
  test("is deleted after its time, with its reason, and its driver creates another", async () => {
    const stand = opened(soon);
    await stand.run(5);
    assert.deepEqual(idsOf(stand), ["1", "2"]);
    await stand.run(15);
    assert.deepEqual(idsOf(stand), ["2", "3"]);
    assert.equal(stand.states()?.at(-1)?.summary, "RunningHealthy");
    const [message = "", ...more] = messagesOf(stand);
    assert.match(message, /^Executor 1 \(pod \S+, node \S+\) was lost: neverStarted \(imagePull: /);
    assert.deepEqual(more, []);
  });

  test("has five minutes where its user says nothing", async () => {
    const stand = opened({});
    await stand.run(40);
    assert.deepEqual(idsOf(stand), ["1", "2"]);
  });

  test("of a StatefulSet is left to its controller", async () => {
    const stand = opened(soon, { "spark.kubernetes.allocation.pods.allocator": "statefulset" });
    await stand.run(20);
    assert.deepEqual(idsOf(stand), ["1", "2"]);
    assert.deepEqual(messagesOf(stand), []);
  });
});

describe("a driver that is deleted", () => {
  test("before a step has seen it is created again once its executors are gone", async () => {
    const spec = { sparkConf: confs };
    const stand = openStand({ spec, scripts: [{ hangs: true }] }, { write: 6, served: "before" });
    await stand.run(1);
    assert.deepEqual([stand.drivers, idsOf(stand)], [["pi-0-driver"], ["1", "2"]]);
    takeDriver(stand);
    await stand.run(1);
    assert.deepEqual(stand.drivers, ["pi-0-driver"]);
    assert.match(String(stand.messages().at(-1)), /^held up by the platform: .* driver that was deleted end first: 2$/);
    await stand.run(2);
    assert.deepEqual(stand.drivers, ["pi-0-driver", "pi-0-driver"]);
    assert.deepEqual(messagesOf(stand), []);
  });

  test("leaves no account of living executors", async () => {
    const stand = openStand({ spec: { sparkConf: confs }, scripts: [{ hangs: true }] });
    await stand.run(4);
    assert.match(stand.record(), /"live":"1-2"/);
    takeDriver(stand);
    await stand.run(4);
    assert.doesNotMatch(stand.record(), /"live"/);
  });
});
