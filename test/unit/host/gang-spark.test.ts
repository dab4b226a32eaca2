/** Spark applications under a host with gang: builtin: driver and initial executors start as one group. */

import assert from "node:assert/strict";
import { describe } from "node:test";
import type { Obj, Stored } from "../../../shared/core/object.ts";
import { defaultOptions } from "../../../shared/spark/auxiliary-objects/options.ts";
import { application, at, home, volcanoJob } from "./objects.ts";
import { itOnStand, type Stand, said } from "./stand.ts";
import { answer, podsAway } from "./way.ts";

const stateOf = (stand: Stand, name: string): unknown =>
  at(stand.get("SparkApplication", name), "status", "applicationState", "state");

const roleOf = ({ metadata }: Stored): string => metadata.labels?.["spark-role"] ?? "";

const ofRole = (stand: Stand, role: string): readonly Stored[] =>
  stand.all("Pod").filter((pod) => roleOf(pod) === role);

const isUp = (pod: Stored): boolean => ["Pending", "Running"].includes(String(at(pod, "status", "phase")));

type Wish = { readonly own?: boolean; readonly required?: boolean; readonly executors?: number };

/** An application of a driver and four executors, each of a core. */
const gang = (name: string, { own = false, required = false, executors = 4 }: Wish = {}): Obj =>
  application(name, {
    annotations: {
      ...(own ? { "rekindle.dev/executors": "own" } : {}),
      ...(required ? { "rekindle.dev/gang-required": "true" } : {}),
    },
    spec: {
      batchScheduler: "volcano",
      restartPolicy: { type: "Never" },
      executor: { instances: executors, cores: 1, memory: "512m" },
    },
  });

const settings = { gang: "builtin", spark: { ...defaultOptions, batchScheduler: true } } as const;

const pinText = (node: string): RegExp =>
  new RegExp(`"matchFields":\\[\\{"key":"metadata.name","operator":"In","values":\\["${node}"\\]\\}\\]`);

const planOf = (group: Stored | undefined): unknown => at(group, "metadata", "annotations", "rekindle.dev/plan");

const node = (name: string, cpu: string) => ({ name, cpu });

/** A pod that somebody binds to a node without a scheduler. */
const thief = (on: string, cpu = "1"): Obj => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "thief", namespace: "default" },
  spec: { nodeName: on, containers: [{ name: "main", image: "busybox", resources: { requests: { cpu } } }] },
});

const mine = (name: string) => (pod: Stored) => pod.metadata.labels?.["sparkoperator.k8s.io/app-name"] === name;

/** Follows applications to their ends: the most drivers at a time, those that were whole, and pods that found no node. */
const follow = async (stand: Stand, names: readonly string[]) => {
  const [whole, homeless] = [new Set<string>(), new Set<string>()];
  let most = 0;
  const look = (): boolean => {
    const executors = ofRole(stand, "executor");
    most = Math.max(most, ofRole(stand, "driver").filter(isUp).length);
    for (const name of names)
      if (executors.filter(mine(name)).filter((pod) => at(pod, "spec", "nodeName") !== undefined).length === 4)
        whole.add(name);
    for (const pod of executors)
      if (JSON.stringify(at(pod, "status")).includes("Unschedulable")) homeless.add(pod.metadata.name);
    return names.every((name) => stateOf(stand, name) === "COMPLETED");
  };
  await stand.until("all are complete", look, 1_800_000);
  return { most, whole: whole.size, homeless: [...homeless] };
};

const three = {
  nodes: [node("a", "5"), node("b", "5"), node("c", "5")],
  scripts: { "*": [{ jobMs: 40_000 }] },
};

const it = itOnStand(three);

describe("a Spark application with gang: builtin", () => {
  for (const own of [false, true])
    it(`starts whole, ${own ? "own" : "assist"}: six of a driver and four executors on room for three all end, and no pod looks for a node`, async (stand) => {
      await stand.create(home);
      await stand.host(settings);
      const names = Array.from({ length: 6 }, (_, nth) => `app-${nth}`);
      for (const name of names) await stand.create(gang(name, { own }));
      assert.deepEqual(await follow(stand, names), { most: 3, whole: 6, homeless: [] });
      assert.deepEqual(stand.all("PodGroup"), []);
    });

  it("starts beside nine others on room for three, in both modes, and all end: no driver waits for a place of another", async (stand) => {
    await stand.create(home);
    await stand.host(settings);
    const names = Array.from({ length: 10 }, (_, nth) => `app-${nth}`);
    for (const [nth, name] of names.entries()) await stand.create(gang(name, { own: nth % 2 === 0 }));
    const { most, whole } = await follow(stand, names);
    assert.deepEqual({ most, whole }, { most: 3, whole: 10 });
  });

  itOnStand({ nodes: [node("a", "5")], scripts: { "*": [{ jobMs: 60_000 }] } })(
    "waits without a pod, and says why; its members are pinned to their plan, and go to default-scheduler",
    async (stand) => {
      await stand.create(home);
      await stand.host(settings);
      await stand.create(thief("a"));
      await stand.create(gang("one", { own: true }));
      await stand.turn(20_000);
      const [waiting] = stand.all("PodGroup");
      assert.equal(at(waiting, "status", "phase"), "Pending");
      assert.match(
        JSON.stringify(at(waiting, "status", "conditions")),
        /needs 1 × 896Mi memory, 1 cpu and 4 × 896Mi memory, 1 cpu; .*but not all together/,
      );
      assert.deepEqual([at(waiting, "spec", "minMember"), at(waiting, "spec", "minResources", "cpu")], [5, "5"]);
      assert.deepEqual([stand.all("Pod").length, stateOf(stand, "one")], [1, ""]);
      assert.match(
        JSON.stringify(stand.all("Checkpoint")),
        /group default\/spark-one-pg of the driver and its executors.*but not all together/,
      );
      await stand.remove("Pod", "thief");
      await stand.until("its executors exist", () => ofRole(stand, "executor").length === 4, 90_000);
      for (const pod of stand.all("Pod")) {
        assert.match(JSON.stringify(at(pod, "spec", "affinity")), pinText("a"));
        assert.equal(at(pod, "spec", "schedulerName"), "default-scheduler");
      }
      await stand.until("the plan has ended", () => planOf(stand.all("PodGroup")[0]) === undefined, 60_000);
      assert.equal(at(stand.all("PodGroup")[0], "status", "phase"), "Running");
      await stand.until("it is complete", () => stateOf(stand, "one") === "COMPLETED", 300_000);
    },
  );

  itOnStand({ nodes: [node("a", "5")], scripts: { "*": [{ jobMs: 60_000 }] } })(
    "starts within a second of its admission, and Events about it have told its position and what it lacks",
    async (stand) => {
      await stand.create(home);
      await stand.host(settings);
      await stand.create(thief("a"));
      await stand.create(gang("one", { own: true }));
      await stand.turn(2_000);
      await stand.create(gang("two", { own: true }));
      await stand.turn(18_000);
      const told = said(stand, "PodGroupPending").map((message) => message.replace(/: .*/, ""));
      assert.deepEqual(told, [
        "PodGroup spark-one-pg waits (position 1 of 1 in queue default)",
        "PodGroup spark-two-pg waits (position 2 of 2 in queue default)",
      ]);
      assert.match(said(stand, "PodGroupPending").join(), /: needs 1 × 896Mi memory, 1 cpu and 4 × 896Mi memory/);
      await stand.remove("Pod", "thief");
      await stand.until("it has a plan", () => stand.all("PodGroup").some((one) => planOf(one) !== undefined), 60_000);
      await stand.turn(1_000);
      assert.equal(ofRole(stand, "driver").length, 1);
    },
  );

  itOnStand({ nodes: [node("a", "2"), node("b", "3")], scripts: { "*": [{ jobMs: 60_000 }] } })(
    "two of whose executors were not created has those that come instead pinned to the places that are left",
    async (stand) => {
      await stand.create(home);
      await stand.host(settings);
      let refused = 0;
      stand.fault(({ method, body = "" }) => {
        if (method !== "POST" || !/"name":"one-[0-9a-f]+-exec-100[34]"/.test(body)) return undefined;
        refused += 1;
        return answer(503, "ServiceUnavailable", "away");
      });
      await stand.create(gang("one", { own: true }));
      await stand.until("it has a plan", () => planOf(stand.all("PodGroup")[0]) !== undefined, 60_000);
      const plan = JSON.parse(String(planOf(stand.all("PodGroup")[0])));
      await stand.until("its executors exist", () => ofRole(stand, "executor").length === 4, 120_000);
      const pins = (name: string): number =>
        ofRole(stand, "executor").filter((pod) => pinText(name).test(JSON.stringify(pod))).length;
      assert.deepEqual({ a: pins("a"), b: pins("b") }, plan.places.executor);
      assert.ok(ofRole(stand, "executor").some(({ metadata: { name } }) => name.endsWith("-exec-1006")));
      assert.ok(refused >= 2);
    },
  );

  itOnStand({ nodes: [node("a", "2")], scripts: { "*": [{ jobMs: 5_000 }] } })(
    "whose driver's place another pod has taken is taken back, spends no retry, and runs when it has places again",
    async (stand) => {
      await stand.create(home);
      await stand.host(settings);
      stand.fault(podsAway);
      await stand.create(gang("one", { executors: 1 }));
      await stand.until("it has a plan", () => planOf(stand.all("PodGroup")[0]) !== undefined, 30_000);
      await stand.create(thief("a", "2"));
      stand.fault(undefined);
      await stand.until("it is taken back", () => /GangNotBound/.test(JSON.stringify(stand.all("PodGroup"))), 120_000);
      await stand.until("its driver is gone", () => ofRole(stand, "driver").length === 0, 60_000);
      await stand.turn(60_000);
      assert.equal(stand.all("Pod").length, 1);
      await stand.remove("Pod", "thief");
      await stand.until("it is complete", () => stateOf(stand, "one") === "COMPLETED", 900_000);
      assert.equal(at(stand.get("SparkApplication", "one"), "status", "executionAttempts"), 1);
    },
  );

  itOnStand({ nodes: [node("a", "2")], scripts: { "*": [{ jobMs: 5_000 }] } })(
    "whose driver cannot be created while its plan stands waits for the next plan, and has lost no driver",
    async (stand) => {
      await stand.create(home);
      await stand.host(settings);
      stand.fault(podsAway);
      await stand.create(gang("one", { executors: 1 }));
      await stand.until("it has a plan", () => planOf(stand.all("PodGroup")[0]) !== undefined, 30_000);
      // Until a pod would come too late for the plan; a group without pods is taken back after 120 s.
      for (const ms of [106_000, 6_000]) {
        await stand.turn(ms);
        await stand.patch("SparkApplication", "one", { metadata: { annotations: { looked: `${ms}` } } });
      }
      await stand.turn(6_000);
      stand.fault(undefined);
      await stand.until("it has ended", () => ["COMPLETED", "FAILED"].includes(String(stateOf(stand, "one"))), 900_000);
      assert.deepEqual([stateOf(stand, "one"), said(stand, "SparkDriverNotFound")], ["COMPLETED", []]);
      assert.equal(at(stand.get("SparkApplication", "one"), "status", "executionAttempts"), 1);
    },
  );

  /** A pod takes the place of the only executor as soon as the driver is bound. */
  const robbed = async (stand: Stand, required: boolean): Promise<void> => {
    await stand.create(home);
    await stand.host(settings);
    await stand.create(gang("one", { executors: 1, required }));
    await stand.until(
      "the driver has a node",
      () => at(ofRole(stand, "driver")[0], "spec", "nodeName") === "a",
      60_000,
    );
    await stand.create(thief("a"));
    await stand.until("its plan has ended", () => planOf(stand.all("PodGroup")[0]) === undefined, 240_000);
    await stand.turn(40_000);
  };

  const slow = { nodes: [node("a", "2")], scripts: { "*": [{ bootMs: 20_000, jobMs: 5_000 }] } };

  itOnStand(slow)("keeps its running driver when an executor finds its place taken", async (stand) => {
    await robbed(stand, false);
    assert.deepEqual([ofRole(stand, "driver").length, stateOf(stand, "one")], [1, "RUNNING"]);
    await stand.remove("Pod", "thief");
    await stand.until("it is complete", () => stateOf(stand, "one") === "COMPLETED", 900_000);
  });

  itOnStand(slow)(
    "gives its driver back when an executor finds its place taken, if it asks for that",
    async (stand) => {
      await robbed(stand, true);
      assert.deepEqual([ofRole(stand, "driver").length, stateOf(stand, "one")], [0, "PENDING_RERUN"]);
      await stand.remove("Pod", "thief");
      await stand.until("it is complete", () => stateOf(stand, "one") === "COMPLETED", 900_000);
      assert.equal(at(stand.get("SparkApplication", "one"), "status", "executionAttempts"), 1);
    },
  );

  itOnStand({ nodes: [node("a", "2")], scripts: { "*": [{ jobMs: 5_000 }] } })(
    "has no group while it is suspended, and asks again with its changed spec",
    async (stand) => {
      await stand.create(home);
      await stand.host(settings);
      await stand.create(gang("one"));
      await stand.turn(10_000);
      assert.equal(stand.all("PodGroup").length, 1);
      await stand.patch("SparkApplication", "one", { spec: { suspend: true } });
      await stand.turn(30_000);
      assert.deepEqual([stand.all("PodGroup"), stateOf(stand, "one")], [[], "SUSPENDED"]);
      await stand.patch("SparkApplication", "one", { spec: { suspend: false } });
      await stand.turn(30_000);
      assert.equal(at(stand.all("PodGroup")[0], "spec", "minMember"), 5);
      await stand.patch("SparkApplication", "one", { spec: { executor: { instances: 1 } } });
      await stand.until("it is complete", () => stateOf(stand, "one") === "COMPLETED", 300_000);
    },
  );

  itOnStand({ nodes: [node("a", "8")], scripts: { "*": [{ jobMs: 5_000 }] } })(
    "is a group by the annotation rekindle.dev/gang alone, too, and none without it",
    async (stand) => {
      await stand.create(home);
      await stand.host({ gang: "builtin" });
      await stand.create(application("asks", { annotations: { "rekindle.dev/gang": "true" } }));
      await stand.create(application("asks-not", { spec: { batchScheduler: "default-scheduler" } }));
      await stand.until("both are complete", () => stateOf(stand, "asks") === "COMPLETED", 120_000);
      const groups = stand.writes().filter((write) => write.includes("/podgroups"));
      assert.ok(groups.some((write) => write.includes("spark-asks-pg")));
      assert.deepEqual(
        groups.filter((write) => write.includes("asks-not")),
        [],
      );
    },
  );
});

describe("a Spark application with gang: native", () => {
  it("has a plan as with builtin, also where the cluster places gangs, and its group says why", async (stand) => {
    await stand.create(home);
    const metadata = { name: "v1beta1.scheduling.k8s.io" };
    await stand.create({ apiVersion: "apiregistration.k8s.io/v1", kind: "APIService", metadata });
    await stand.host({ ...settings, gang: "native" });
    // The cluster's gangs are tried for the group of a Job.
    await stand.create(volcanoJob("job", { runMs: 2_000 }));
    await stand.until(
      "the job has ended",
      () => at(stand.get("Job", "job"), "status", "state", "phase") === "Completed",
      90_000,
    );
    await stand.create(gang("one"));
    await stand.until("its executors exist", () => ofRole(stand, "executor").length === 4, 90_000);
    const [group] = stand.all("PodGroup");
    assert.match(String(planOf(group)), /"executor"/);
    const why = /a PodGroup of Kubernetes cannot say that some of its members are created later/;
    assert.match(JSON.stringify(at(group, "status", "conditions")), why);
    for (const pod of stand.all("Pod").filter(mine("one"))) assert.equal(at(pod, "spec", "schedulingGroup"), undefined);
    assert.deepEqual(stand.all("GangOfKubernetes"), []);
    await stand.until("it is complete", () => stateOf(stand, "one") === "COMPLETED", 600_000);
  });
});
