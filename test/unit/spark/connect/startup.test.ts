/** A Connect server that does not start: what the record waits for, and the warning, once for each reason. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import type { Effect } from "../../../../shared/core/plan.ts";
import { parseMemory } from "../../../../shared/spark/connect/memory.ts";
import { waitIn } from "../../../support/plans.ts";
import {
  connect,
  type Decided,
  decided,
  eight,
  executor,
  others,
  planned,
  type Spec,
  said,
  server,
} from "./fixtures.ts";

const ready = { phase: "Running", podIP: "10.0.0.7", conditions: [{ type: "Ready", status: "True" }] };
const evicted = { phase: "Failed", reason: "Evicted" };
const creating = { phase: "Pending", containerStatuses: [waitingFor("ContainerCreating")] };
const unplaced = {
  phase: "Pending",
  conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/1 nodes are available" }],
};

function waitingFor(reason: string, message = ""): object {
  return { name: "spark-kubernetes-driver", state: { waiting: { reason, message } } };
}

/** Returns a server's pod that has been pending for `ageMs`, a minute by default. */
const pending = (status: Spec, ageMs = 60_000, uid = "uid-Pod"): Stored =>
  server(status, { uid, creationTimestamp: new Date(eight - ageMs).toISOString() });

const event = (reason: string, message: string, type = "Warning"): Stored => ({
  apiVersion: "v1",
  kind: "Event",
  metadata: { name: `e-${reason}`, uid: `e-${reason}`, resourceVersion: "1" },
  ...{ type, reason, message, lastTimestamp: "2026-11-02T07:59:10Z" },
});

const mountFails = event("FailedMount", 'MountVolume.SetUp failed for volume "c" : configmap "app" not found');
const unmounted = [...others(), pending(creating), mountFails];

type Warning = Extract<Effect, { do: "record" }>;

const warningsIn = ({ before, plan }: Decided): readonly Warning[] =>
  [...before, ...plan.stages.flat()].flatMap((effect) =>
    effect.do === "record" && effect.reason === "PodNotStarting" ? [effect] : [],
  );

const messagesIn = (step: Decided): readonly string[] => warningsIn(step).map(({ message }) => message);

const looksAtEvents = ({ lists }: Decided): boolean => lists.includes("events");

describe("a Connect server that does not start", () => {
  test("has the reason of its events in waitsFor, and a warning Event on the SparkConnect gives the remedy", () => {
    const step = decided({ there: unmounted });
    assert.match(
      waitIn(step.plan).waitsFor ?? "",
      /^its server to start \(FailedMount: .* configmap "app" not found\)$/,
    );
    assert.deepEqual(
      warningsIn(step).map(({ type, about, resource, message }) => [type, about.metadata.uid, resource.kind, message]),
      [
        [
          "Warning",
          "c-1",
          "SparkConnect",
          'server pod sc-server does not start: FailedMount: MountVolume.SetUp failed for volume "c" : configmap "app" not found; create configmap app in namespace ns, or correct the name',
        ],
      ],
    );
    assert.deepEqual([waitIn(step.plan).pollMs, step.plan.status?.["state"]], [30_000, "NotReady"]);
  });

  test("leads to the warning before the record has it, so that a step that dies in between loses none", () => {
    const { before, plan } = decided({ there: unmounted });
    assert.deepEqual([before.length, said(plan), plan.memory], [1, [], { ends: 0, held: ["0 server FailedMount"] }]);
  });

  test("leads to one warning for each reason", () => {
    const memory = { ends: 0, held: ["0 server FailedMount"] };
    const same = decided({ memory, there: unmounted });
    assert.deepEqual([messagesIn(same), same.plan.memory], [[], memory]);
    const other = decided({ memory, there: [...others(), pending(unplaced)] });
    assert.equal(messagesIn(other).length, 1);
    assert.deepEqual(other.plan.memory.held, ["0 server FailedMount", "0 server Unschedulable"]);
  });

  test("because of a missing node leads to a warning from its status alone, without a poll", () => {
    const step = decided({ there: [...others(), pending(unplaced)] });
    assert.deepEqual([looksAtEvents(step), waitIn(step.plan).pollMs], [false, undefined]);
    assert.equal(waitIn(step.plan).waitsFor, "its server to start (Unschedulable: 0/1 nodes are available)");
    assert.deepEqual(messagesIn(step), [
      "server pod sc-server does not start: Unschedulable: 0/1 nodes are available; make room in the cluster, or ask for less",
    ]);
  });

  test("because of its image leads to a warning with the kubelet's text", () => {
    const status = { phase: "Pending", containerStatuses: [waitingFor("ErrImagePull", "not found")] };
    const step = decided({ there: [...others(), pending(status)] });
    assert.match(messagesIn(step).join(), /ErrImagePull: not found; correct the image's name/);
    assert.deepEqual(step.plan.memory.held, ["0 server ImagePullBackOff"]);
  });

  test("for 10 s needs no read of events, and is polled", () => {
    const step = decided({ there: [...others(), pending(creating, 10_000), mountFails] });
    assert.deepEqual([looksAtEvents(step), messagesIn(step), waitIn(step.plan).pollMs], [false, [], 30_000]);
  });

  test("while its image is pulled leads to no warning", () => {
    const pulling = event("Pulling", 'Pulling image "spark:4"', "Normal");
    const step = decided({ there: [...others(), pending(creating), pulling] });
    assert.match(waitIn(step.plan).waitsFor ?? "", /^its server to start \(Pulling: Pulling image/);
    assert.deepEqual([messagesIn(step), step.plan.memory], [[], { ends: 0 }]);
  });

  test("and has an earlier spec has both reasons in waitsFor", () => {
    const step = decided({ object: connect({ image: "spark:4.1.2" }), there: unmounted });
    assert.match(
      waitIn(step.plan).waitsFor ?? "",
      /^pod sc-server to be deleted by a user: the spec has changed since it was created; it does not start \(FailedMount: /,
    );
    assert.equal(messagesIn(step).length, 1);
  });

  test("while an object is refused has the refusal in waitsFor", () => {
    const [effect] = planned().stages.flat();
    assert.ok(effect);
    const refused = [{ effect, status: 409, reason: "NameTaken", message: "configmaps ns/sc-conf exists" }];
    const step = decided({ refused, there: unmounted });
    assert.match(waitIn(step.plan).waitsFor ?? "", /^the refused object to be corrected/);
    assert.deepEqual([messagesIn(step), looksAtEvents(step)], [[], false]);
  });
});

describe("the recorded warnings about a Connect server", () => {
  const held = ["2 server FailedMount"];

  test("are kept while its pod is created again, until the pod is ready", () => {
    const kept = [others(), unmounted, [...others(), pending(creating, 10_000)]];
    for (const there of kept) assert.deepEqual(planned({ memory: { ends: 2, held }, there }).memory.held, held);
    const up = planned({ memory: { ends: 2, held }, there: [...others(), server(ready)] });
    assert.deepEqual(up.memory, { ends: 0 });
  });

  test("are dropped when the pod ends, so that the next pod leads to a new warning", () => {
    const ended = planned({ memory: { ends: 2, held }, there: [...others(), server(evicted)] });
    assert.deepEqual([ended.memory.ends, ended.memory.held], [3, undefined]);
  });

  test("have an Event of their own for each pod", () => {
    const occasions = ["pod-1", "pod-2"].flatMap((uid) =>
      warningsIn(decided({ there: [...others(), pending(unplaced, 60_000, uid)] })).map(({ occasion }) => occasion),
    );
    assert.deepEqual(occasions, ["0 server Unschedulable pod-1", "0 server Unschedulable pod-2"]);
  });

  test("may be absent from a record", () => {
    for (const memory of [{ ends: 2 }, { ends: 2, held }]) assert.deepEqual(parseMemory(memory), { ok: true, memory });
  });
});

describe("a Connect server that starts", () => {
  test("needs no read of events and no poll, even if an executor is Pending", () => {
    const late = { ...executor(1, "Pending"), status: unplaced };
    const step = decided({ there: [...others(), server(ready), late, mountFails] });
    assert.deepEqual([looksAtEvents(step), messagesIn(step), waitIn(step.plan).pollMs], [false, [], undefined]);
  });

  test("is polled after the creation of its pod", () => assert.equal(waitIn(planned()).pollMs, 15_000));
});
