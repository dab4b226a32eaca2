/** Groups under a host with gang: builtin that evicts: who gets room, who gives it, and what comes of both. */

import assert from "node:assert/strict";
import { describe } from "node:test";
import type { Obj, Stored } from "../../../shared/core/object.ts";
import type { GangEviction } from "../../../shared/volcano/gang/settings.ts";
import { at, home, volcanoJob } from "./objects.ts";
import { itOnStand, phaseOf, type Stand, said } from "./stand.ts";
import { answer } from "./way.ts";

const retriesOf = (stand: Stand, name: string): unknown => at(stand.get("Job", name), "status", "retryCount") ?? 0;

const groupOf = (stand: Stand, name: string): Stored | undefined =>
  stand.all("PodGroup").find(({ metadata }) => metadata.name.startsWith(`${name}-`));

const running = (stand: Stand, name: string): readonly string[] =>
  stand
    .all("Pod")
    .filter((pod) => pod.metadata.name.startsWith(`${name}-`) && at(pod, "status", "phase") === "Running")
    .map(({ metadata }) => metadata.name)
    .sort();

type Wish = { readonly pods?: number; readonly least?: number; readonly cpu?: string; readonly spec?: object };

/** A job whose pods need a core each; every eviction would abort it, if it were an event. */
const wide = (name: string, runMs: number, { pods = 2, least = pods, cpu = "1", spec = {} }: Wish = {}): Obj => {
  const [task] = Object(volcanoJob(name, { runMs })["spec"])["tasks"];
  const pod = {
    ...task.template.spec,
    containers: [{ name: "main", image: "busybox", resources: { requests: { cpu } } }],
  };
  const policies = [{ events: ["PodEvicted", "PodFailed"], action: "AbortJob" }];
  return volcanoJob(
    name,
    {},
    {
      ...{ plugins: {}, policies, minAvailable: least },
      tasks: [{ ...task, replicas: pods, minAvailable: least, template: { ...task.template, spec: pod } }],
      ...spec,
    },
  );
};

const annotated = (name: string, annotations: Readonly<Record<string, string>>) => ({
  metadata: { name, namespace: "default", annotations },
});

const queue = (name: string, spec: object): Obj => ({
  ...{ apiVersion: "scheduling.volcano.sh/v1beta1", kind: "Queue", metadata: { name } },
  spec: { reclaimable: true, weight: 1, ...spec },
});

const classes: readonly Obj[] = [
  { name: "high", value: 1_000 },
  { name: "low", value: 10 },
  { name: "peaceful", value: 1_000, preemptionPolicy: "Never" },
].map(({ name, ...more }) => ({
  ...{ apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass", metadata: { name } },
  ...more,
}));

const evicting = (gangEvict: GangEviction) => ({ gang: "builtin", gangEvict }) as const;

const isEviction = (path: string): boolean => path.endsWith("/eviction");

/** Starts a host that evicts in this way, and records the requests that evict or delete pods. */
const opened = async (stand: Stand, mode: GangEviction): Promise<readonly string[]> => {
  const ends: string[] = [];
  stand.fault(({ method, path }) => {
    const isEnd = (method === "POST" && isEviction(path)) || (method === "DELETE" && path.includes("/pods/"));
    if (isEnd)
      ends.push(`${isEviction(path) ? "evict" : "delete"} ${path.split("/pods/")[1]?.replace("/eviction", "")}`);
    return undefined;
  });
  await stand.create(home);
  for (const one of classes) await stand.create(one);
  await stand.host(evicting(mode));
  return ends;
};

const oneNode = (cpu: string) => ({ nodes: [{ name: "a", cpu }] });

const runs = (stand: Stand, name: string, count: number) =>
  stand.until(`${name} runs`, () => running(stand, name).length === count, 120_000);

const low = { priorityClassName: "low" };
const high = { priorityClassName: "high" };

const it = itOnStand(oneNode("2"));

describe("a group of a higher priority", () => {
  it("gets the room of a group of its queue, which is evicted whole, spends no retry and runs again afterwards", async (stand) => {
    const ends = await opened(stand, "preempt");
    await stand.create(wide("victim", 90_000, { spec: low }));
    await runs(stand, "victim", 2);
    await stand.create(wide("claimant", 30_000, { spec: high }));
    await runs(stand, "claimant", 2);
    assert.deepEqual([...ends].sort(), ["evict victim-worker-0", "evict victim-worker-1"]);
    assert.deepEqual(running(stand, "victim"), []);
    assert.equal(at(groupOf(stand, "victim"), "status", "phase"), "Pending");
    assert.match(said(stand, "Evicted").join(), /all pods of the group are evicted for group default\/claimant-/);
    assert.match(said(stand, "RoomByEviction").join(), /2 pods of 1 group are evicted/);
    await stand.until("the victim is complete", () => phaseOf(stand, "victim") === "Completed", 600_000);
    assert.equal(phaseOf(stand, "claimant"), "Completed");
    assert.equal(retriesOf(stand, "victim"), 0);
    assert.doesNotMatch(JSON.stringify(groupOf(stand, "victim") ?? {}), /rekindle.dev\/evicted/);
  });

  itOnStand(oneNode("4"))(
    "gets the room of single pods beyond a minimum; they come again when it has started, and there is room",
    async (stand) => {
      const ends = await opened(stand, "preempt");
      await stand.create(wide("victim", 90_000, { pods: 4, least: 2, spec: low }));
      await runs(stand, "victim", 4);
      await stand.create(wide("claimant", 30_000, { pods: 1, spec: high }));
      await runs(stand, "claimant", 1);
      assert.deepEqual(ends, ["evict victim-worker-3"]);
      assert.deepEqual(running(stand, "victim").length, 3);
      assert.equal(at(groupOf(stand, "victim"), "status", "phase"), "Running");
      await stand.until("the victim is complete", () => phaseOf(stand, "victim") === "Completed", 600_000);
      assert.equal(retriesOf(stand, "victim"), 0);
    },
  );

  it("is counted once in the metric of evictions, by the number of pods and the way", async (stand) => {
    for (const one of [home, ...classes]) await stand.create(one);
    const host = await stand.host(evicting("preempt"));
    const figure = async (): Promise<readonly string[]> =>
      (await host.scrape()).text.split("\n").filter((line) => line.startsWith("rekindle_gang_evictions_total"));
    assert.deepEqual(await figure(), ['rekindle_gang_evictions_total{way="Unknown"} 0']);
    await stand.create(wide("victim", 90_000, { spec: low }));
    await runs(stand, "victim", 2);
    await stand.create(wide("claimant", 30_000, { spec: high }));
    await runs(stand, "claimant", 2);
    await stand.until("the victim is complete", () => phaseOf(stand, "victim") === "Completed", 600_000);
    assert.ok((await figure()).includes('rekindle_gang_evictions_total{way="preempt"} 2'), String(await figure()));
  });

  const kept: readonly (readonly [string, Obj, Obj, readonly Obj[]])[] = [
    ["of an equal priority", wide("victim", 600_000, { spec: high }), wide("claimant", 30_000, { spec: high }), []],
    [
      "of another queue, if only its own may give room",
      wide("victim", 600_000, { spec: { ...low, queue: "other" } }),
      wide("claimant", 30_000, { spec: high }),
      [queue("other", {})],
    ],
    [
      "that says that its pods stay",
      { ...wide("victim", 600_000, { spec: low }), ...annotated("victim", { "volcano.sh/preemptable": "false" }) },
      wide("claimant", 30_000, { spec: high }),
      [],
    ],
    [
      "if its class says that its pods displace none",
      wide("victim", 600_000, { spec: low }),
      wide("claimant", 30_000, { spec: { priorityClassName: "peaceful" } }),
      [],
    ],
    [
      "whose budget allows no disruption",
      wide("victim", 600_000, { spec: low }),
      wide("claimant", 30_000, { spec: high }),
      [
        {
          ...{ apiVersion: "policy/v1", kind: "PodDisruptionBudget" },
          metadata: { name: "all", namespace: "default" },
          spec: { maxUnavailable: 0, selector: { matchLabels: { "volcano.sh/job-name": "victim" } } },
        },
      ],
    ],
  ];
  for (const [who, victim, claimant, more] of kept)
    it(`does not get the room of a group ${who}`, async (stand) => {
      const ends = await opened(stand, "preempt");
      for (const object of more) await stand.create(object);
      await stand.create(victim);
      await runs(stand, "victim", 2);
      await stand.create(claimant);
      await stand.turn(60_000);
      assert.deepEqual(ends, []);
      assert.deepEqual(running(stand, "claimant"), []);
      assert.equal(running(stand, "victim").length, 2);
    });

  it("gets no room where the deployment evicts nothing", async (stand) => {
    const ends = await opened(stand, "none");
    await stand.create(wide("victim", 60_000, { spec: low }));
    await runs(stand, "victim", 2);
    await stand.create(wide("claimant", 30_000, { spec: high }));
    await stand.turn(30_000);
    assert.deepEqual(ends, []);
  });

  it("waits, and says which feature grants the right, if the host may not evict; the other group goes on", async (stand) => {
    await opened(stand, "preempt");
    stand.fault(({ method, path }) =>
      method === "POST" && isEviction(path)
        ? answer(
            403,
            "Forbidden",
            'pods "x" is forbidden: User "x" cannot create resource "pods/eviction" in API group ""',
          )
        : undefined,
    );
    await stand.create(wide("victim", 1_500_000, { spec: low }));
    await runs(stand, "victim", 2);
    await stand.create(wide("claimant", 30_000, { spec: high }));
    await stand.turn(30_000);
    assert.match(
      JSON.stringify(stand.lines.filter(({ level }) => level === "warn")),
      /rekindle manifests --features gang-evict grants this/,
    );
    assert.equal(running(stand, "victim").length, 2);
    await stand.turn(615_000);
    assert.equal(running(stand, "victim").length, 2);
  });
});

describe("a group whose queue has less than it deserves", () => {
  const deserving = (name: string, cpu: string, more: object = {}) => queue(name, { deserved: { cpu }, ...more });

  itOnStand(oneNode("4"))(
    "gets the room of a group of a queue that has more, and not more room than it needs",
    async (stand) => {
      const ends = await opened(stand, "reclaim");
      for (const one of [deserving("mine", "2"), deserving("theirs", "2")]) await stand.create(one);
      for (const name of ["one", "two"]) await stand.create(wide(name, 120_000, { spec: { queue: "theirs" } }));
      for (const name of ["one", "two"]) await runs(stand, name, 2);
      await stand.create(wide("claimant", 30_000, { spec: { queue: "mine" } }));
      await runs(stand, "claimant", 2);
      assert.deepEqual(ends.length, 2);
      assert.equal(running(stand, "one").length + running(stand, "two").length, 2);
      const all = ["one", "two", "claimant"];
      await stand.until("all are complete", () => all.every((name) => phaseOf(stand, name) === "Completed"), 900_000);
      for (const name of all) assert.equal(retriesOf(stand, name), 0);
    },
  );

  const kept: readonly (readonly [string, Obj, Obj])[] = [
    ["that has not more than it deserves", deserving("mine", "4"), deserving("theirs", "2")],
    ["that is not reclaimable", deserving("mine", "2"), deserving("theirs", "1", { reclaimable: false })],
    ["whose guarantee it is", deserving("mine", "2"), queue("theirs", { guarantee: { resource: { cpu: "2" } } })],
    ["if its own queue would have more than it deserves", deserving("mine", "1"), deserving("theirs", "1")],
    ["if its own queue deserves nothing in particular", queue("mine", {}), deserving("theirs", "1")],
  ];
  for (const [which, mine, theirs] of kept)
    it(`does not get the room of a queue ${which}`, async (stand) => {
      const ends = await opened(stand, "all");
      for (const one of [mine, theirs]) await stand.create(one);
      await stand.create(wide("victim", 600_000, { spec: { queue: "theirs" } }));
      await runs(stand, "victim", 2);
      await stand.create(wide("claimant", 30_000, { spec: { queue: "mine" } }));
      await stand.turn(30_000);
      assert.deepEqual(ends, []);
    });
});
