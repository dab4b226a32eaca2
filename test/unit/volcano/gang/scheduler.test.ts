/** Detection of Volcano's scheduler, with and without leader election, and the warning for one that admits nothing. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import type { Looking, ProbeResult } from "../../../../shared/core/plan.ts";
import { timeText } from "../../../../shared/core/time.ts";
import { find, isSchedulers, readLeases, type SchedulerFinding } from "../../../../shared/volcano/gang/scheduler.ts";
import type { QueueMemory } from "../../../../shared/volcano/queue/state/memory.ts";
import { resultOf } from "../../../support/decisions.ts";

const now = Date.UTC(2026, 10, 2, 8);

/** A namespace of administrators. */
const place = "ns";
const detecting = { mode: "auto", namespaces: [place] } as const;

const ago = (seconds: number): string => timeText(now - seconds * 1_000);

const object = (kind: string, name: string, more: object = {}, metadata: object = {}): Stored => ({
  ...{ apiVersion: "v1", kind },
  metadata: { name, namespace: place, uid: name, resourceVersion: "1", creationTimestamp: ago(1), ...metadata },
  ...more,
});

const written = (by: string, seconds: number): object => ({
  managedFields: [{ manager: by, time: ago(seconds), subresource: "status" }],
});

const group = (seconds: number, phase = "", metadata: object = {}): Stored =>
  object("PodGroup", "g", { status: { phase } }, { creationTimestamp: ago(seconds), ...metadata });

const pod = (image: string, ready = "True", labels: Readonly<Record<string, string>> = {}): Stored =>
  object(
    "Pod",
    "s-0",
    {
      spec: { containers: [{ name: "c", image }] },
      status: { phase: "Running", conditions: [{ type: "Ready", status: ready }] },
    },
    { labels },
  );

const chart = { app: "volcano-scheduler" };

type World = {
  readonly pods?: readonly Stored[];
  readonly groups?: readonly Stored[];
  readonly queues?: readonly Stored[];
  readonly leases?: readonly Stored[];
  /** ClusterRoleBindings to a role that may bind pods. */
  readonly rights?: readonly Stored[];
  readonly memory?: QueueMemory;
};

const lease = (seconds: number, namespace = place): Stored =>
  object(
    "Lease",
    "volcano",
    { spec: { holderIdentity: "s", leaseDurationSeconds: 15, renewTime: ago(seconds) } },
    { namespace },
  );

const tenants = "team-a";

const elsewhere = (one: Stored): Stored => ({ ...one, metadata: { ...one.metadata, namespace: tenants } });

const bound = (namespace: string): Stored =>
  object("ClusterRoleBinding", "b", {
    subjects: [{ kind: "ServiceAccount", name: "default", namespace }],
    roleRef: { kind: "ClusterRole", name: "scheduler" },
  });

/** Looks for the scheduler; returns the finding and the queries. */
const look = ({ pods = [], groups = [group(1)], queues = [], leases = [], rights = [], memory }: World) => {
  const asked: string[] = [];
  const objects = (query: Looking): readonly Stored[] => {
    assert.ok(query.do === "list");
    const { field = "", labels, resource, namespace, projecting } = query;
    const project = projecting?.() ?? ((one: Stored) => one);
    const kept = (found: readonly Stored[]): readonly Stored[] => found.flatMap((one) => project(one) ?? []);
    asked.push([resource.plural, ...Object.values(labels), field].filter(Boolean).join(" "));
    if (resource.plural === "clusterrolebindings") return kept(rights);
    if (resource.plural === "leases")
      return kept(leases.filter(({ metadata }) => field === `metadata.name=${metadata.name}`));
    const within = pods.filter(({ metadata }) => namespace === "" || metadata.namespace === namespace);
    return kept(
      within.filter((one) => Object.entries(labels).every(([name, value]) => one.metadata.labels?.[name] === value)),
    );
  };
  const probe = (): ProbeResult => ({
    heard: true,
    value: { rules: [{ apiGroups: [""], resources: ["pods/binding"], verbs: ["create"] }] },
  });
  const held = resultOf(readLeases(detecting), { objects });
  return { found: resultOf(find(detecting, { leases: held, now, memory, queues, groups }), { objects, probe }), asked };
};

const says = ({ saying, silent = "" }: SchedulerFinding): string => `${saying} ${silent}`;

describe("Volcano's scheduler", () => {
  const rows: readonly (readonly [name: string, world: World, admits: SchedulerFinding["admits"], says: RegExp])[] = [
    ["by its lease", { leases: [lease(5)] }, "scheduler", /renews its lease ns\/volcano/],
    ["not by a lease that has lapsed", { leases: [lease(60)] }, "here", /no lease .* no pod of it is Ready/],
    ["by a Ready pod of its chart", { pods: [pod("mirror/x:1", "True", chart)] }, "scheduler", /pod ns\/s-0 .* Ready/],
    [
      "by a Ready pod of its image",
      { pods: [pod("registry.example:5000/team/vc-scheduler:v1.12.1")] },
      "scheduler",
      /pod ns\/s-0/,
    ],
    [
      "not by a pod that is not Ready",
      { pods: [pod("vc-scheduler", "False", chart)] },
      "here",
      /Rekindle admits groups of pods/,
    ],
    [
      "not by a pod of its agent's scheduler",
      { pods: [pod("vc-agent-scheduler:v1")] },
      "here",
      /Rekindle admits groups of pods/,
    ],
    [
      "by a Ready pod of its image in a tenant's namespace whose account may bind pods in all",
      { pods: [elsewhere(pod("vc-scheduler:v1"))], rights: [bound(tenants)] },
      "scheduler",
      /pod team-a\/s-0/,
    ],
    [
      "not by such a pod of another account",
      { pods: [elsewhere(pod("vc-scheduler:v1", "True", chart))], rights: [bound("other")] },
      "here",
      /Rekindle admits groups of pods/,
    ],
    [
      "not by a pod with its labels in a tenant's namespace",
      { pods: [elsewhere(pod("busybox", "True", chart))] },
      "here",
      /Rekindle admits groups of pods/,
    ],
    ["not by a lease in a tenant's namespace", { leases: [lease(5, tenants)] }, "here", /no lease .* no pod/],
    [
      "not by its recent write to a PodGroup, which a tenant can forge",
      { groups: [group(300, "Pending", written("vc-scheduler", 1))] },
      "here",
      /has written no Queue for 2 minutes/,
    ],
    [
      "by its recent write to the status of a Queue",
      { queues: [object("Queue", "q", {}, written("vc-scheduler", 119))] },
      "scheduler",
      /wrote Queue ns\/q/,
    ],
    [
      "not by its write to a Queue's spec",
      {
        queues: [
          object("Queue", "q", {}, { managedFields: [{ manager: "vc-scheduler", time: ago(1), subresource: "" }] }),
        ],
      },
      "here",
      /Rekindle admits groups of pods/,
    ],
    [
      "not by its write of three minutes ago",
      { queues: [object("Queue", "q", {}, written("vc-scheduler", 180))] },
      "here",
      /written no Queue for 2 minutes/,
    ],
    [
      "not by writes of other managers",
      { queues: [object("Queue", "q", {}, written("vc-controller-manager", 3))] },
      "here",
      /Rekindle admits groups of pods/,
    ],
  ];
  for (const [name, world, admits, words] of rows)
    test(`is detected ${name}`, () => {
      const { found } = look(world);
      assert.equal(found.admits, admits);
      assert.match(says(found), words);
    });

  test("that is Ready and writes no PodGroup for 10 s leads to a warning, and the group is not admitted", () => {
    const pods = [pod("vc-scheduler", "True", chart)];
    const young = look({ pods, groups: [group(9)] }).found;
    assert.deepEqual([young.admits, young.silent, young.doubtful], ["scheduler", undefined, true]);
    const old = look({ pods, groups: [group(11)] }).found;
    assert.equal(old.admits, "scheduler");
    assert.match(
      old.silent ?? "",
      /pod ns\/s-0 .* has written nothing of PodGroup ns\/g for 11 s\. Rekindle does not admit the group/,
    );
    assert.equal(look({ pods, groups: [group(11, "Pending")] }).found.silent, undefined);
  });

  test("is not searched among pods while its lease is renewed, nor while no group waits", () => {
    assert.equal(look({ leases: [lease(5)] }).asked.length, 2);
    for (const admits of ["here", "scheduler"] as const) {
      const { asked, found } = look({ groups: [group(5, "Running")], memory: { admits } });
      assert.deepEqual([asked.length, found.admits], [2, admits]);
    }
  });

  test("is searched among all pods once in five minutes, and among its chart's pods every time", () => {
    const first = look({});
    assert.equal(first.asked.length, 4);
    assert.equal(first.found.searchedAt, now);
    const soon = look({ memory: { admits: "here", searchedAt: now - 299_000 } });
    assert.deepEqual([soon.asked.length, soon.found.searchedAt], [3, now - 299_000]);
    assert.equal(look({ memory: { admits: "here", searchedAt: now - 300_000 } }).asked.length, 4);
    // A scheduler that was found by its image is looked for each time.
    assert.equal(look({ memory: { admits: "scheduler", searchedAt: now } }).asked.length, 4);
  });

  test("owns a phase that it wrote within the last 30 s", () => {
    assert.equal(isSchedulers(group(60, "Pending", written("vc-scheduler", 29)), now), true);
    assert.equal(isSchedulers(group(60, "Pending", written("vc-scheduler", 31)), now), false);
    assert.equal(isSchedulers(group(60, "Pending", written("rekindle", 1)), now), false);
  });
});
