/** Volcano jobs under a host with gang: native: PodGroups of Kubernetes, and plans where these cannot say what a job asks for. */

import assert from "node:assert/strict";
import { describe } from "node:test";
import type { Obj, Stored } from "../../../shared/core/object.ts";

import { at, home, volcanoJob } from "./objects.ts";
import { itOnStand, phaseOf, type Stand } from "./stand.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Returns a task of pods that need so much cpu. */
const taskOf = (
  name: string,
  replicas: number,
  cpu: string,
  runMs: number,
  more: Fields = {},
  pod: Fields = {},
): Fields => {
  const [task] = Object(volcanoJob("x", { runMs })["spec"])["tasks"];
  const containers = [{ name: "main", image: "busybox", resources: { requests: { cpu } } }];
  const spec = { ...task.template.spec, containers, ...pod };
  return { ...task, name, replicas, template: { ...task.template, spec }, ...more };
};

const jobOf = (name: string, tasks: readonly Fields[], spec: Fields = {}): Obj =>
  volcanoJob(
    name,
    {},
    { plugins: {}, tasks, minAvailable: tasks.reduce((sum, one) => sum + Number(one["replicas"]), 0), ...spec },
  );

const served: Obj = {
  apiVersion: "apiregistration.k8s.io/v1",
  kind: "APIService",
  metadata: { name: "v1beta1.scheduling.k8s.io" },
};

const gangs = (stand: Stand, job: string): readonly Stored[] =>
  stand.all("GangOfKubernetes").filter(({ metadata }) => metadata.name.startsWith(`${job}-`));

const minCounts = (stand: Stand, job: string): readonly unknown[] =>
  gangs(stand, job).map((group) => at(group, "spec", "schedulingPolicy", "gang", "minCount"));

const podsOf = (stand: Stand, job: string): readonly Stored[] =>
  stand.all("Pod").filter(({ metadata }) => metadata.name.startsWith(`${job}-`));

const groupOf = (stand: Stand, job: string): Stored | undefined =>
  stand.all("PodGroup").find(({ metadata }) => metadata.name.startsWith(`${job}-`));

const events = (stand: Stand, reason: string): readonly string[] =>
  stand
    .all("Event")
    .filter((event) => event["reason"] === reason)
    .map((event) => String(event["message"]));

const it = itOnStand({ nodes: [{ name: "small", cpu: "4" }] });

describe("a Volcano job with gang: native", () => {
  const oneNode = { nodes: [{ name: "small", cpu: "3" }] };

  itOnStand(oneNode)(
    "has a PodGroup of Kubernetes before its pods, starts whole, and leaves nothing behind",
    async (stand) => {
      await stand.create(home);
      await stand.create(served);
      await stand.host({ gang: "native" });
      await stand.create(jobOf("first", [taskOf("w", 2, "1", 20_000)]));
      await stand.create(jobOf("second", [taskOf("w", 2, "1", 5_000)]));
      await stand.until(
        "one runs",
        () => ["first", "second"].some((name) => phaseOf(stand, name) === "Running"),
        60_000,
      );
      const [one, other] = phaseOf(stand, "first") === "Running" ? ["first", "second"] : ["second", "first"];
      assert.deepEqual(minCounts(stand, one), [2]);
      assert.deepEqual(
        podsOf(stand, one).map((pod) => at(pod, "spec", "schedulingGroup", "podGroupName")),
        [0, 1].map(() => gangs(stand, one)[0]?.metadata.name),
      );
      await stand.turn(3_000);
      assert.deepEqual(
        podsOf(stand, other).map((pod) => at(pod, "spec", "nodeName")),
        [undefined, undefined],
      );
      await stand.until(
        "both are complete",
        () => ["first", "second"].every((name) => phaseOf(stand, name) === "Completed"),
        120_000,
      );
      await stand.turn(5_000);
      assert.deepEqual(stand.all("GangOfKubernetes"), []);
      assert.match(events(stand, "GangNative").join(), /the cluster places gangs/);
    },
  );

  itOnStand(oneNode)("has plans where the API server does not serve PodGroups of Kubernetes", async (stand) => {
    await stand.create(home);
    await stand.host({ gang: "native" });
    await stand.create(jobOf("first", [taskOf("w", 2, "1", 5_000)]));
    await stand.until("it runs", () => phaseOf(stand, "first") === "Running", 60_000);
    for (const pod of podsOf(stand, "first")) {
      assert.equal(at(pod, "spec", "schedulingGroup"), undefined);
      assert.match(JSON.stringify(at(pod, "spec", "affinity")), /"values":\["small"\]/);
    }
    await stand.until("it is complete", () => phaseOf(stand, "first") === "Completed", 60_000);
    assert.match(events(stand, "GangNative").join(), /does not serve scheduling.k8s.io\/v1beta1/);
    assert.deepEqual(stand.all("GangOfKubernetes"), []);
  });

  it("says that its PodGroup is no longer served, creates no pod until it is served again or not wanted; other jobs have plans at once", async (stand) => {
    await stand.create(home);
    await stand.create(served);
    await stand.host({ gang: "native" });
    const policies = [{ event: "PodFailed", action: "RestartPod" }];
    await stand.create(jobOf("first", [taskOf("w", 2, "1", 600_000, { policies })]));
    await stand.until("it runs", () => phaseOf(stand, "first") === "Running", 60_000);
    await stand.remove("APIService", served.metadata.name, "");
    for (const { metadata } of gangs(stand, "first")) await stand.remove("GangOfKubernetes", metadata.name);
    await stand.until("its PodGroup is gone", () => gangs(stand, "first").length === 0, 10_000);
    const wordOf = (): string => String(at(stand.get("Job", "first"), "status", "state", "message"));
    for (const again of [served, undefined]) {
      await stand.remove("Pod", "first-w-1");
      await stand.until("it says why", () => /no longer serves scheduling/.test(wordOf()), 60_000);
      assert.match(wordOf(), /take the annotation rekindle.dev\/native-gang off PodGroup first-/);
      assert.equal(stand.get("Pod", "first-w-1"), undefined);
      const group = groupOf(stand, "first")?.metadata.name ?? "";
      if (again !== undefined) await stand.create(again);
      else await stand.patch("PodGroup", group, { metadata: { annotations: { "rekindle.dev/native-gang": null } } });
      const isBack = (): boolean => at(stand.get("Pod", "first-w-1"), "status", "phase") === "Running";
      await stand.until("its pod is back", isBack, 60_000);
      await stand.until("it says nothing", () => !/no longer serves/.test(wordOf()), 60_000);
      for (const { metadata } of gangs(stand, "first")) await stand.remove("GangOfKubernetes", metadata.name);
      if (again !== undefined) await stand.remove("APIService", again.metadata.name, "");
      if (again === undefined) {
        await stand.create(jobOf("second", [taskOf("w", 1, "1", 5_000)]));
        await stand.until("it is complete", () => phaseOf(stand, "second") === "Completed", 60_000);
        assert.match(events(stand, "GangNative").join(), /groups get plans of Rekindle.*does not serve/);
      }
    }
  });

  itOnStand(oneNode)("whose tasks have different priorities has a plan, and its group says why", async (stand) => {
    await stand.create(home);
    await stand.create(served);
    for (const [name, value] of [
      ["low", 1],
      ["high", 2],
    ] as const)
      await stand.create({ apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass", metadata: { name }, value });
    await stand.host({ gang: "native" });
    const tasks = ["low", "high"].map((name) => taskOf(name, 1, "1", 20_000, {}, { priorityClassName: name }));
    await stand.create(jobOf("mixed", tasks));
    await stand.until("it runs", () => phaseOf(stand, "mixed") === "Running", 60_000);
    assert.deepEqual(gangs(stand, "mixed"), []);
    const why = /a PodGroup of Kubernetes cannot say that its tasks have different priority classes/;
    assert.match(JSON.stringify(at(groupOf(stand, "mixed"), "status", "conditions")), why);
    assert.match(events(stand, "PlacedByPlan").join(), why);
  });

  it("lowers its number for pods that have finished, so that a replacement is placed, and raises it for tasks that depend on others", async (stand) => {
    await stand.create(home);
    await stand.create(served);
    await stand.host({ gang: "native" });
    const policies = [{ event: "PodFailed", action: "RestartPod" }];
    const tasks = [
      taskOf("a", 1, "1", 30_000),
      taskOf("b", 1, "1", 300_000, { policies }),
      taskOf("late", 1, "1", 300_000, { dependsOn: { name: ["a"] } }),
    ];
    await stand.create(jobOf("chain", tasks));
    await stand.until("two pods exist", () => podsOf(stand, "chain").length >= 2, 60_000);
    assert.deepEqual(minCounts(stand, "chain"), [2]);
    await stand.until(
      "the dependent one runs",
      () => at(stand.get("Pod", "chain-late-0"), "status", "phase") === "Running",
      60_000,
    );
    assert.deepEqual(minCounts(stand, "chain"), [3]);
    await stand.until(
      "one has succeeded",
      () => at(stand.get("Pod", "chain-a-0"), "status", "phase") === "Succeeded",
      60_000,
    );
    const uid = stand.get("Pod", "chain-b-0")?.metadata.uid;
    await stand.remove("Pod", "chain-b-0");
    await stand.until(
      "its replacement runs",
      () => {
        const pod = stand.get("Pod", "chain-b-0");
        return pod?.metadata.uid !== uid && at(pod, "status", "phase") === "Running";
      },
      60_000,
    );
    assert.deepEqual(minCounts(stand, "chain"), [2]);
  });
});
