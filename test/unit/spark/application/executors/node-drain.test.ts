/** Node drain: with `own`, replacements run first; with `assist`, the node is closed to new executors first. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../../shared/core/object.ts";
import { wholeOf } from "../../../../../shared/core/plan.ts";
import { relevant } from "../../../../../shared/spark/application/state/memory.ts";
import { sparkApplicationWatcher } from "../../../../../shared/spark/application/watches.ts";
import { newAllotment } from "../../../../../shared/spark/executors/allotment.ts";
import { waitIn } from "../../../../support/plans.ts";
import { executor } from "../../executors/pods.ts";
import { at, both, heard, hidden, living, type Row, status, tested } from "../attended.ts";
import { application, decided, driver, pod, remembered, said, spec } from "../fixtures.ts";

const goes = "2026-11-02T08:02:00Z";
const [staying = { id: 1 }, onNode = { id: 2 }] = both;
const leaver = { ...onNode, leaving: goes };
const nodeOf = (unschedulable?: boolean) =>
  heard({ metadata: { uid: "n-1", resourceVersion: "7" }, spec: { unschedulable } });
const look = "getIfAllowed nodes node-1";
const stuck =
  "node node-1 goes at 2026-11-02T08:02:00Z: executors 2 cannot be moved, because the node still accepts pods and this account may not cordon it";
const gone = "2026-11-02T07:59:30Z";
const stuckSince = stuck.replace(goes, gone);
const cordon = "change nodes node-1 if it is n-1 at 7";

/** The driver's own allocator creates the executors. */
const assisted: readonly Row[] = [
  {
    why: "on a cordoned node is deleted with grace, and the ledger has the reason",
    ledger: living([1, 2]),
    executors: [staying, leaver],
    hears: { "node-1": nodeOf(true) },
    looks: [look, "list pods"],
    does: ["delete pi-exec-2 at 1"],
    doomed: [2],
  },
  {
    why: "is deleted after the step has cordoned the node",
    ledger: living([1, 2]),
    executors: [staying, leaver],
    hears: { "node-1": nodeOf() },
    looks: [look, "list pods"],
    does: [cordon, "delete pi-exec-2 at 1"],
    doomed: [2],
  },
  {
    why: "is not deleted if the cordon is forbidden, which leads to an Event",
    ledger: living([1, 2]),
    executors: [staying, leaver],
    hears: { "node-1": nodeOf() },
    denied: true,
    looks: [look],
    does: [cordon, `tell NodeLeaving: ${stuck}`],
    doomed: [],
    care: { warned: stuck },
  },
  {
    why: "that cannot be moved leads to one Event",
    ledger: living([1, 2], { care: { warned: stuck } }),
    executors: [staying, leaver],
    hears: { "node-1": nodeOf() },
    denied: true,
    looks: [look],
    does: [cordon],
    doomed: [],
    care: { warned: stuck },
    pollMs: 15_000,
  },
  {
    why: "is deleted in a later step if the cordon succeeds then",
    ledger: living([1, 2], { care: { warned: stuck } }),
    executors: [staying, leaver],
    hears: { "node-1": nodeOf() },
    looks: [look, "list pods"],
    does: [cordon, "delete pi-exec-2 at 1"],
    doomed: [2],
  },
  {
    why: "is kept if its node is not found, and the step reads the node again",
    ledger: living([1, 2]),
    executors: [staying, leaver],
    hears: { "node-1": heard(undefined) },
    looks: [look],
    does: [],
    pollMs: 15_000,
  },
  {
    why: "whose notice is over is left to resyncs, without a poll",
    ledger: living([1, 2], { care: { warned: stuckSince } }),
    executors: [staying, { ...leaver, leaving: gone }],
    hears: { "node-1": hidden },
    looks: [look],
    does: [],
    doomed: [],
    care: { warned: stuckSince },
    pollMs: "never",
  },
  {
    why: "whose notice is just over is judged again soon if its node is there and is not cordoned",
    ledger: living([1, 2]),
    executors: [staying, { ...leaver, leaving: "2026-11-02T07:59:50Z" }],
    hears: { "node-1": nodeOf() },
    denied: true,
    looks: [look],
    does: [cordon, `tell NodeLeaving: ${stuck.replace(/goes at \S+Z/, "goes at 2026-11-02T07:59:50Z")}`],
    care: { warned: stuck.replace(/goes at \S+Z/, "goes at 2026-11-02T07:59:50Z") },
    pollMs: 15_000,
  },
  {
    why: "leads to an Event and no cordon without the right to read nodes",
    ledger: living([1, 2]),
    executors: [staying, leaver],
    hears: { "node-1": hidden },
    looks: [look],
    does: [`tell NodeLeaving: ${stuck}`],
    doomed: [],
    care: { warned: stuck },
  },
  {
    why: "is deleted by force once the time has come and the node is gone, as when the node was deleted without notice",
    ledger: living([1, 2]),
    executors: [staying, { ...leaver, leaving: "2026-11-02T08:00:00Z" }],
    hears: { "node-1": { heard: true, value: undefined } },
    looks: [look, "list pods"],
    does: ["force pi-exec-2 at 1"],
    doomed: [2],
  },
  {
    why: "that is being deleted is not deleted again",
    ledger: living([1, 2]),
    executors: [staying, { ...leaver, deletion: "2026-11-02T08:00:20Z" }],
    does: [],
  },
  {
    why: "with an invalid notice is kept",
    ledger: living([1, 2]),
    executors: [staying, { ...leaver, leaving: "soon" }],
    does: [],
  },
  {
    why: "that is gone with its node has the loss reason node",
    ledger: living([1, 2], {
      doomed: [
        {
          id: 2,
          uid: "00000002",
          pod: "pi-exec-2",
          reason: "node",
          why: `its node goes at ${goes}`,
          at: at("08:00:00"),
        },
      ],
    }),
    executors: [staying, { ...leaver, deletion: "2026-11-02T08:00:20Z" }],
    does: [`tell ExecutorLost: Executor 2 (pod pi-exec-2) was lost: node (its node goes at ${goes})`],
    lost: { node: 1 },
  },
];
tested("a driver's own executor on a node with a notice", assisted);

describe("a driver on a node with a notice", () => {
  tested("leads to an Event and is left alone", [
    {
      why: "because its restart policy decides",
      ledger: living([1]),
      executors: [staying],
      body: {
        ...pod(),
        metadata: { ...pod().metadata, annotations: { "rekindle.dev/leaving": goes } },
        spec: { nodeName: "node-9" },
      },
      does: [
        `tell NodeLeaving: node node-9 goes at ${goes}, and the driver runs on it: a driver cannot be moved, its restart policy decides`,
      ],
      care: {
        warned: `node node-9 goes at ${goes}, and the driver runs on it: a driver cannot be moved, its restart policy decides`,
      },
    },
  ]);
});

/** Rekindle creates the three executors. */
const app = application({
  metadata: { annotations: { "rekindle.dev/executors": "own" }, generation: 1 },
  spec: { ...spec, executor: { instances: 3, cores: 1, memory: "512m" } },
  status,
});
const own = (id: number, more: object = {}): Stored => {
  const made = executor({ id, node: `node-${id % 2}`, ...more });
  return { ...made, metadata: { ...made.metadata, name: `spark-pi-1-exec-${id}` } };
};
const allotment = { ...newAllotment(1, "spark-pi-1", undefined), listens: true, next: 1004, alive: "1001-1003" };
const memory = remembered({ driver, allotment, spec: relevant(app, true) });
const leaving = { leaving: goes };
const waiting = { phase: "Pending", created: "2026-11-02T07:59:59Z" };

type Own = {
  readonly why: string;
  readonly pods: readonly Stored[];
  readonly now?: number;
  readonly does: readonly string[];
  readonly wakeAt?: number;
};

const owned: readonly Own[] = [
  {
    why: "gets its replacement first, and a timer for its deletion without one",
    pods: [own(1001, leaving), own(1002), own(1003)],
    does: ["create 1004"],
    wakeAt: at("08:01:15"),
  },
  {
    why: "is kept while the replacement is Pending",
    pods: [own(1001, leaving), own(1002), own(1003), own(1004, waiting)],
    does: [],
    wakeAt: at("08:01:15"),
  },
  {
    why: "is deleted with grace when the replacement runs",
    pods: [own(1001, leaving), own(1002), own(1003), own(1004)],
    does: ["delete 1001"],
  },
  {
    why: "is kept until the driver has had time to register the running replacement",
    pods: [own(1001, leaving), own(1002), own(1003), own(1004, { created: "2026-11-02T07:59:55Z" })],
    does: [],
    wakeAt: at("08:00:05"),
  },
  {
    why: "is deleted before the node goes even if the replacement is Pending",
    pods: [own(1001, leaving), own(1002), own(1003), own(1004, waiting)],
    now: at("08:01:15"),
    does: ["delete 1001"],
  },
  {
    why: "that is Pending is deleted at once, and replaced",
    pods: [own(1001, { ...leaving, ...waiting }), own(1002), own(1003)],
    does: ["create 1004", "delete 1001"],
    // The step creates before it lists a second time, so it waits for its own creation as for an earlier one.
    wakeAt: at("08:00:10"),
  },
  {
    why: "is deleted together with as many others as have replacements",
    pods: [own(1001, leaving), own(1002, leaving), own(1003, leaving), own(1004), own(1005), own(1006, waiting)],
    does: ["delete 1001", "delete 1002"],
    wakeAt: at("08:01:15"),
  },
];

const short = (line: string): string =>
  line.replace(/^create pods \S+-exec-(\d+).*$/, "create $1").replace(/^delete pods \S+-exec-(\d+) .*$/, "delete $1");

describe("an executor of Rekindle on a node with a notice", () => {
  for (const { why, pods, does, wakeAt, ...when } of owned)
    test(why, () => {
      const made = { ...memory, allotment: { ...allotment, next: Math.max(1004, 1001 + pods.length) } };
      const { plan, before } = decided({ object: app, memory: made, pods: [pod(), ...pods], ...when });
      const lines = [...before, ...plan.stages.flat()].map(said).filter((line) => /^(create|delete)/.test(line));
      assert.deepEqual(lines.map(short), does);
      assert.equal(waitIn(plan).wakeAt, wakeAt);
    });

  const moving = { "spark.decommission.enabled": "true", "spark.storage.decommission.enabled": "true" };
  const graces: readonly (readonly [what: string, sparkConf: object, now: number, seconds: number | undefined])[] = [
    ["the application's grace to move its data", moving, at("08:00:00"), 120],
    ["the time until its node goes, if that is shorter", moving, at("08:01:30"), 30],
    ["at least a second", moving, at("08:02:30"), 1],
    [
      "its pod's own grace without storage decommissioning",
      { "spark.decommission.enabled": "true" },
      at("08:00:00"),
      undefined,
    ],
  ];
  for (const [what, sparkConf, now, seconds] of graces)
    test(`gets ${what}`, () => {
      const spec = { ...Object(app["spec"]), sparkConf };
      const object = { ...app, spec };
      const { plan } = decided({
        object,
        memory: { ...memory, spec: relevant(object, true), allotment: { ...allotment, next: 1005 } },
        pods: [pod(), own(1001, leaving), own(1002), own(1003), own(1004)],
        now,
      });
      const deleted = plan.stages.flat().flatMap((one) => (one.do === "delete" ? [one.graceSeconds] : []));
      assert.deepEqual(deleted, [seconds]);
    });

  const excluded = /"requiredDuring\w+":\{"nodeSelectorTerms":\[\{"matchFields":\[\{[^}]*"NotIn","values":\["node-1"\]/;

  test("gets a replacement that may not have the node", () => {
    const { plan, before } = decided({ object: app, memory, pods: [pod(), own(1001, leaving), own(1002), own(1003)] });
    const [made] = [...before, ...plan.stages.flat()].flatMap((one) => (one.do === "create" ? [wholeOf(one)] : []));
    assert.match(JSON.stringify(made), excluded);
  });

  test("gets a replacement that may not have the node even if the list is behind and does not show it", () => {
    const others = [pod(), own(1002), own(1003)];
    const there = [...others, own(1001, leaving)];
    const { plan, before } = decided({ object: app, memory, pods: others, live: there, again: there });
    const [made] = [...before, ...plan.stages.flat()].flatMap((one) => (one.do === "create" ? [wholeOf(one)] : []));
    assert.match(JSON.stringify(made), excluded);
  });

  for (const kept of ["doomed", "losses"] as const)
    test(`gets a replacement that may not have the node even if it is gone itself (${kept})`, () => {
      const why = `its node goes at ${goes}`;
      const loss = { id: 1001, uid: "u", reason: "node", node: "node-1", why, at: at("07:59:50") } as const;
      const ledger = { ...living([1002, 1004], { over: kept === "losses" ? "1001" : "" }), [kept]: [loss] };
      const { plan, before } = decided({
        object: app,
        memory: { ...memory, executors: ledger, allotment: { ...allotment, next: 1005, alive: "1002,1004" } },
        pods: [pod(), own(1002), own(1004)],
      });
      const [made] = [...before, ...plan.stages.flat()].flatMap((one) => (one.do === "create" ? [wholeOf(one)] : []));
      assert.match(JSON.stringify(made), excluded);
    });
});

test("a notice on a pod sends one urgent key", () => {
  const watch = sparkApplicationWatcher.watches.find(({ resource }) => resource.plural === "pods");
  const [before, after] = [executor({ id: 1 }), executor({ id: 1, leaving: goes })];
  assert.deepEqual(
    [watch?.matters(before, after), watch?.urgent?.(before, after), watch?.matters(after, after)],
    [true, true, false],
  );
});
