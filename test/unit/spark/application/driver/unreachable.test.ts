/** Runs on nodes that do not answer: the wait for their driver, and the cleanup of their pods. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../../shared/core/object.ts";
import type { ProbeResult } from "../../../../../shared/core/plan.ts";
import { waitIn } from "../../../../support/plans.ts";
import { at, heard, hidden, node } from "../attended.ts";
import { application, asked, decided, driver, eight, pod, remembered, type Short, said } from "../fixtures.ts";

type Cut = {
  readonly ending?: string;
  readonly disrupted?: string;
  readonly claims?: boolean;
  readonly ready?: string;
};

/** Returns a pod on node-1 that is not ready, as its kubelet reports nothing. */
const cut = (short: Short, { ending, disrupted, claims = false, ready = "False" }: Cut = {}): Stored => {
  const one = pod(short);
  const target = { type: "DisruptionTarget", status: "True", reason: disrupted };
  const conditions = [{ type: "Ready", status: ready }, ...(disrupted === undefined ? [] : [target])];
  return {
    ...one,
    metadata: { ...one.metadata, ...(ending === undefined ? {} : { deletionTimestamp: ending }) },
    spec: {
      nodeName: "node-1",
      ...(claims ? { volumes: [{ name: "a", persistentVolumeClaim: { claimName: "a" } }] } : {}),
    },
    status: { ...Object(one["status"]), conditions },
  };
};

const silent = node("Unknown", "2026-11-02T07:58:00Z");
const gone = heard(undefined);
const away = "2026-11-02T07:59:00Z";
const timed = (span: string) => ({ "rekindle.dev/driver-node-timeout": span });
const running = remembered({ driver, state: { phase: "RUNNING" } });

type Following = {
  readonly why: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly pod: Stored;
  readonly node?: ProbeResult;
  readonly phase: string;
  readonly error?: string;
  readonly wakeAt?: number;
  readonly waits?: RegExp;
};

const following: readonly Following[] = [
  {
    why: "the step waits for a driver whose node is silent, and waitsFor gives the reason",
    pod: cut({}),
    node: silent,
    phase: "RUNNING",
    waits:
      /^the driver's node node-1 to answer again, or to be gone: silent since 2026-11-02T07:58:00Z; rekindle.dev\/driver-node-timeout would/,
  },
  {
    why: "the step waits for a driver on a silent node that is being deleted",
    pod: cut({}, { ending: away }),
    node: silent,
    phase: "RUNNING",
    waits: /node-1 to answer again/,
  },
  {
    why: "the step waits until the driver-node-timeout if the annotation sets one",
    annotations: timed("5m"),
    pod: cut({}),
    node: silent,
    phase: "RUNNING",
    wakeAt: at("08:03:00"),
    waits: /silent since 2026-11-02T07:58:00Z$/,
  },
  {
    why: "the run is FAILED after the driver-node-timeout",
    annotations: timed("2m"),
    pod: cut({}, { ending: away }),
    node: silent,
    phase: "FAILED",
    error: "driver lost: its node node-1 has not answered for 2m",
  },
  {
    why: "a driver whose node is gone is lost",
    pod: cut({}),
    node: gone,
    phase: "FAILED",
    error: "driver lost: its node node-1 is gone",
  },
  {
    why: "a driver whose node has the out-of-service taint is lost",
    pod: cut({}),
    node: node("Unknown", "2026-11-02T07:59:55Z", ["node.kubernetes.io/out-of-service"]),
    phase: "FAILED",
    error: "driver lost: its node node-1 is gone",
  },
  {
    why: "without the right to read nodes, DeletionByTaintManager counts as a silent node",
    annotations: timed("30s"),
    pod: cut({}, { ending: away, disrupted: "DeletionByTaintManager" }),
    node: hidden,
    phase: "FAILED",
    error: "driver lost: its node node-1 has not answered for 30s",
  },
  {
    why: "without the right to read nodes and without that condition, the step waits",
    annotations: timed("30s"),
    pod: cut({}),
    node: hidden,
    phase: "RUNNING",
    waits: /^the driver to finish$/,
  },
  {
    why: "a driver whose node answers is not lost",
    pod: cut({}),
    node: node("True", away),
    phase: "RUNNING",
    waits: /finish/,
  },
];

describe("a driver that is not ready", () => {
  for (const { why, annotations = {}, pod: body, node: hears = gone, phase, error, wakeAt, waits } of following)
    test(why, () => {
      const object = application({ metadata: { annotations } });
      const { plan, looks } = decided({ object, memory: running, pods: [body], hears: { "node-1": hears } });
      const { state } = plan.memory;
      assert.equal(state.phase, phase);
      assert.equal("error" in state ? state.error : undefined, error);
      assert.equal(waitIn(plan).wakeAt, wakeAt ?? waitIn(plan).wakeAt);
      assert.match(waitIn(plan).waitsFor ?? "", waits ?? /^/);
      assert.ok(looks.map(asked).includes("getIfAllowed nodes node-1"));
    });

  test("leads to a read of its node, and a ready driver does not", () => {
    const { looks } = decided({ object: application(), memory: running, pods: [cut({}, { ready: "True" })] });
    assert.ok(!looks.map(asked).includes("getIfAllowed nodes node-1"));
  });

  test("after the timeout has the cause unreachable, and its pod is deleted", () => {
    const object = application({ metadata: { annotations: timed("2m") } });
    const world = { object, memory: running, pods: [cut({})], hears: { "node-1": silent } };
    const { plan, before } = decided(world);
    assert.deepEqual("cause" in plan.memory.state ? plan.memory.state.cause : "", "unreachable");
    assert.ok([...before, ...plan.stages.flat()].map(said).includes("delete pods spark-pi-driver if it is driver-1"));
  });
});

const executor = { name: "e-1", uid: "e-1", role: "executor", owner: "driver-1", executor: 1 } as const;

type Clearing = {
  readonly why: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly pods: readonly Stored[];
  readonly node?: ProbeResult;
  readonly does: readonly string[];
  readonly wakeAt?: number;
  readonly waits: RegExp;
};

const clearing: readonly Clearing[] = [
  {
    why: "an executor whose silent node does not end it is deleted at once, by force",
    pods: [cut(executor, { ending: away })],
    node: silent,
    does: ["delete pods e-1 if it is e-1 at 1 at once"],
    waits: /^1 object of the last run to end$/,
  },
  {
    why: "an executor whose node is gone is deleted by force without an earlier deletion",
    pods: [cut(executor)],
    node: gone,
    does: ["delete pods e-1 if it is e-1 at 1 at once"],
    waits: /^1 object/,
  },
  {
    why: "an executor within the node grace is deleted normally, and the step returns after the grace",
    annotations: { "rekindle.dev/node-grace": "5m" },
    pods: [cut(executor)],
    node: silent,
    does: ["delete pods e-1 if it is e-1"],
    wakeAt: at("08:03:00"),
    waits: /^1 object/,
  },
  {
    why: "an executor with claims is not deleted by force, as its machine may still write to them",
    pods: [cut(executor, { ending: away, claims: true })],
    node: silent,
    does: [],
    waits: /^1 object of the last run to end, e-1 \(node node-1 does not answer\) among them$/,
  },
  {
    why: "an executor is not deleted by force if the annotation says wait",
    annotations: { "rekindle.dev/unreachable-executors": "wait" },
    pods: [cut(executor, { ending: away })],
    node: silent,
    does: [],
    waits: /e-1 \(node node-1 does not answer\)/,
  },
  {
    why: "a Pending executor whose node is gone is deleted by force",
    pods: [cut({ ...executor, phase: "Pending" }, { ending: away })],
    node: gone,
    does: ["delete pods e-1 if it is e-1 at 1 at once"],
    waits: /^1 object/,
  },
  {
    why: "a driver is not deleted by force without a driver-node-timeout",
    pods: [cut({}, { ending: away })],
    node: silent,
    does: [],
    waits: /spark-pi-driver \(node node-1 does not answer\)/,
  },
  {
    why: "a driver is not deleted by force without the right to read nodes",
    pods: [cut({}, { ending: away, disrupted: "DeletionByTaintManager" })],
    node: hidden,
    does: [],
    waits: /spark-pi-driver \(node node-1 does not answer\)/,
  },
  {
    why: "a driver is deleted by force after the driver-node-timeout",
    annotations: timed("2m"),
    pods: [cut({}, { ending: away })],
    node: silent,
    does: ["delete pods spark-pi-driver if it is driver-1 at 1 at once"],
    waits: /^1 object/,
  },
  {
    why: "an executor whose node answers keeps its grace",
    pods: [cut(executor, { ending: away })],
    node: node("True", away),
    does: [],
    waits: /^1 object of the last run to end$/,
  },
];

describe("the cleanup of a run's pods on nodes that do not answer", () => {
  for (const { why, annotations = {}, pods, node: hears = gone, does, wakeAt, waits } of clearing)
    test(why, () => {
      const memory = remembered({ driver, state: { phase: "PENDING_RERUN" }, plannedAt: eight - 60_000 });
      const object = application({ metadata: { annotations } });
      const { plan } = decided({ object, memory, pods, hears: { "node-1": hears } });
      assert.deepEqual(
        plan.stages
          .flat()
          .filter((effect) => effect.do === "delete")
          .map(said),
        does,
      );
      assert.match(waitIn(plan).waitsFor ?? "", waits);
      assert.equal(waitIn(plan).wakeAt, wakeAt);
    });
});
