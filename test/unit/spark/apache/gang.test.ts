/** Applications of `spark.apache.org` that start whole: what their group states, when they begin, and what becomes of it. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fieldsOf, recordsIn } from "../../../../shared/core/json.ts";
import type { Stored } from "../../../../shared/core/object.ts";
import { timeText } from "../../../../shared/core/time.ts";
import type { DriverScript } from "../../../../shared/simulator/nodes/script.ts";
import type { Fields } from "./fixtures.ts";
import { confs, own } from "./own.ts";
import { openStand, pathOf, type Stand } from "./stand.ts";

const gang = { "rekindle.dev/gang": "true" } as const;
const groupPath = "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups/apache-spark-pi-pg";

type Given = {
  readonly annotations?: Fields;
  readonly labels?: Fields;
  readonly sparkConf?: Fields;
  readonly spec?: Fields;
  readonly scripts?: readonly DriverScript[];
};

const open = ({
  annotations = {},
  labels = {},
  sparkConf = {},
  spec = {},
  scripts = [{ hangs: true }],
}: Given = {}): Stand =>
  openStand({
    metadata: { labels, annotations: { ...gang, ...annotations } },
    spec: { sparkConf: { ...confs, ...sparkConf }, ...spec },
    scripts,
    gang: true,
  });

const groupIn = ({ simulator }: Stand): Stored | undefined =>
  simulator.store.list("podgroups.scheduling.volcano.sh")[0] as unknown as Stored | undefined;

const nodeOf = ({ simulator }: Stand): string => simulator.store.list("nodes")[0]?.metadata.name ?? "";

const merge = "application/merge-patch+json";

/** Writes what an admission round, or the taking back of a plan, writes. */
const write = (stand: Stand, phase: string, annotations: Fields): void => {
  assert.equal(stand.request("PATCH", groupPath, { metadata: { annotations }, status: { phase } }, merge), 200);
};

const admit = (stand: Stand): void => {
  const node = nodeOf(stand);
  const places = { driver: { [node]: 1 }, executor: { [node]: 2 } };
  const since = timeText(stand.simulator.clock.now());
  write(stand, "Inqueue", { "rekindle.dev/plan": JSON.stringify({ since, places }) });
};

const takeBack = (stand: Stand): void => {
  const at = timeText(stand.simulator.clock.now());
  write(stand, "Pending", {
    "rekindle.dev/plan": null,
    "rekindle.dev/taken-back": JSON.stringify({ at, times: 1, nodes: [] }),
  });
};

const evict = (stand: Stand): void => {
  const at = timeText(stand.simulator.clock.now());
  write(stand, "Pending", {
    "rekindle.dev/plan": null,
    "rekindle.dev/evicted": JSON.stringify({ at, by: "default/other" }),
  });
};

const podsIn = ({ simulator }: Stand, role: string) =>
  simulator.store.list("pods").filter(({ metadata: { labels } }) => labels?.["spark-role"] === role);

const summaries = (stand: Stand): readonly string[] => stand.states()?.map(({ summary }) => summary) ?? [];

const pinIn = (pod: ReturnType<typeof podsIn>[number] | undefined): string =>
  JSON.stringify(fieldsOf(fieldsOf(pod?.["spec"])["affinity"])["nodeAffinity"] ?? null);

const attemptIn = ({ simulator }: Stand): Fields => {
  const app = simulator.store.get("sparkapplications.spark.apache.org", "default/pi");
  return fieldsOf(fieldsOf(fieldsOf(app?.["status"])["currentAttemptSummary"])["attemptInfo"]);
};

describe("an application that starts whole", () => {
  test("asks for its driver and its executors, says that it waits, and has no pod before there are places", async () => {
    const stand = open({ annotations: { "scheduling.volcano.sh/queue-name": "research" } });
    await stand.run(4);
    const { annotations = {}, ownerReferences = [] } = groupIn(stand)?.metadata ?? {};
    const { members } = JSON.parse(annotations["rekindle.dev/members"] ?? "{}");
    assert.deepEqual(
      recordsIn(members).map(({ task, count }) => `${task}=${count}`),
      ["driver=1", "executor=2"],
    );
    assert.equal(ownerReferences[0]?.kind, "SparkApplication");
    assert.deepEqual(
      [groupIn(stand)?.spec].map((spec) => [fieldsOf(spec)["minMember"], fieldsOf(spec)["queue"]]),
      [[3, "research"]],
    );
    assert.deepEqual(stand.drivers, []);
    assert.deepEqual(summaries(stand), ["Submitted"]);
    assert.match(
      stand.messages()[0] ?? "",
      /^waits for places of group default\/apache-spark-pi-pg of the driver and its executors/,
    );
  });

  test("begins when it is admitted: its pods are members, the driver is pinned, and the group goes with the attempt", async () => {
    const stand = open({ scripts: [{ jobMs: 20_000 }] });
    await stand.run(2);
    admit(stand);
    await stand.run(4);
    const [driver] = podsIn(stand, "driver");
    assert.match(pinIn(driver), new RegExp(nodeOf(stand)));
    assert.equal(driver?.metadata.annotations?.["scheduling.k8s.io/group-name"], "apache-spark-pi-pg");
    const [executor] = podsIn(stand, "executor");
    assert.equal(executor?.metadata.annotations?.["volcano.sh/task-spec"], "executor");
    await stand.run(20);
    assert.equal(summaries(stand).at(-1), "ResourceReleased");
    assert.equal(groupIn(stand), undefined);
  });

  test("has its own executors pinned to the places that are free", async () => {
    const stand = open({ annotations: own });
    await stand.run(2);
    admit(stand);
    await stand.run(6);
    const pins = podsIn(stand, "executor").map(pinIn);
    assert.equal(pins.length, 2);
    for (const pin of pins) assert.match(pin, new RegExp(nodeOf(stand)));
  });

  for (const [what, lose, how] of [
    ["whose places are taken back", takeBack],
    ["whose group is evicted with its driver", evict],
    ["whose driver an eviction has ended before a step sees it", evict, { gracePeriodSeconds: 0 }],
  ] as const)
    test(`${what} waits for them again, keeps its group, and spends no restart`, async () => {
      const stand = open();
      await stand.run(2);
      admit(stand);
      await stand.run(5);
      assert.equal(summaries(stand).at(-1), "RunningHealthy");
      lose(stand);
      const [driver] = podsIn(stand, "driver");
      if (lose === evict) {
        await stand.run(2);
        const there = podsIn(stand, "driver").map(({ metadata }) => metadata.deletionTimestamp);
        assert.deepEqual(there, [undefined], "the Eviction API ends it");
        stand.request("DELETE", `/api/v1/namespaces/default/pods/${driver?.metadata.name}`, how);
      }
      await stand.run(20);
      assert.deepEqual(podsIn(stand, "driver"), []);
      assert.equal(summaries(stand).at(-1), "ScheduledToRestart");
      assert.notEqual(groupIn(stand), undefined);
      admit(stand);
      await stand.run(6);
      assert.equal(summaries(stand).at(-1), "RunningHealthy");
      assert.equal(attemptIn(stand)["restartCounter"], 0);
    });

  test("has another group when it asks for other pods while it waits", async () => {
    const stand = open();
    await stand.run(3);
    stand.request("PATCH", pathOf(), { spec: { sparkConf: { "spark.executor.instances": "3" } } }, merge);
    await stand.run(4);
    assert.equal(fieldsOf(groupIn(stand)?.spec)["minMember"], 4);
  });

  for (const [what, body] of [
    ["its annotation goes", { metadata: { annotations: { "rekindle.dev/gang": null } } }],
    ["it is suspended", { spec: { suspend: true } }],
  ] as const)
    test(`reserves no places any more when ${what}`, async () => {
      const stand = open();
      await stand.run(3);
      assert.notEqual(groupIn(stand), undefined);
      stand.request("PATCH", pathOf(), body, merge);
      await stand.run(4);
      assert.equal(groupIn(stand), undefined);
    });

  test("is refused beside a LocalQueue, with what to change", async () => {
    const stand = open({ labels: { "kueue.x-k8s.io/queue-name": "team" } });
    await stand.run(3);
    assert.match(stand.messages().join(), /gang\]: true is for applications without a LocalQueue/);
    assert.equal(groupIn(stand), undefined);
  });
});
