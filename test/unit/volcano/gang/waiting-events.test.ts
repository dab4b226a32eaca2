/** The Events about controllers of waiting groups: position and reason, only for groups that state their members. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { OwnerReference, Stored } from "../../../../shared/core/object.ts";
import type { Verdict } from "../../../../shared/volcano/gang/admission.ts";
import { groupOutline } from "../../../../shared/volcano/gang/outlines.ts";
import { waitingEvents } from "../../../../shared/volcano/gang/waiting-events.ts";

const eight = Date.UTC(2026, 10, 2, 8);

const members = JSON.stringify({ members: [{ task: "driver", count: 1, spec: {} }] });

const application: OwnerReference = {
  ...{ apiVersion: "sparkoperator.k8s.io/v1beta2", kind: "SparkApplication", name: "app", uid: "u" },
  controller: true,
};

const group = (
  name: string,
  owner: OwnerReference = application,
  annotations = { "rekindle.dev/members": members },
) => {
  const stored: Stored = {
    ...{ apiVersion: "scheduling.volcano.sh/v1beta1", kind: "PodGroup", spec: { queue: "q" } },
    metadata: { name, namespace: "ns", uid: name, resourceVersion: "1", ownerReferences: [owner], annotations },
  };
  return groupOutline(new Set())(stored) ?? stored;
};

const waits = (one: Stored): Verdict => ({ group: one, enters: false, why: "needs 1 × 2 cpu" });

const told = (written: readonly Verdict[], all = written, now = eight) =>
  waitingEvents(written, all, now).flatMap((effect) => (effect.do === "record" ? [effect] : []));

/** The Events about others than the groups. */
const said = (written: readonly Verdict[], all = written, now = eight): readonly string[] =>
  told(written, all, now)
    .filter(({ about }) => about.kind !== "PodGroup")
    .map(({ about, message }) => `${about.kind} ${about.metadata.name}: ${message}`);

test("each group that waits has the Event of Volcano's scheduler, a group that enters has none", () => {
  const job = { ...application, apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job" };
  const all: readonly Verdict[] = [
    { group: group("in"), enters: true, places: [] },
    waits(group("a")),
    waits(group("j", job)),
  ];
  const own = told(all).filter(({ about }) => about.kind === "PodGroup");
  assert.deepEqual(
    own.map(({ about, type, reason, message }) => [about.metadata.name, type, reason, message]),
    ["a", "j"].map((name) => [name, "Warning", "Unschedulable", "needs 1 × 2 cpu"]),
  );
});

test("an Event about the application gives the position among the groups that go on waiting in the queue, and the reason", () => {
  const all: readonly Verdict[] = [
    { group: group("in"), enters: true, places: [] },
    waits(group("a")),
    waits(group("b")),
  ];
  assert.deepEqual(said(all.slice(2), all), [
    "SparkApplication app: PodGroup b waits (position 2 of 2 in queue q): needs 1 × 2 cpu",
  ]);
});

test("a group that enters, one of a Job, one without members and one whose owner has no name of an object get none", () => {
  const job = { ...application, apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job" };
  const others = [
    group("j", job),
    group("n", application, { "rekindle.dev/members": "" }),
    group("x", { ...application, name: "A B" }),
    group("o", { ...application, controller: false }),
  ].map(waits);
  assert.deepEqual(said([{ group: group("in"), enters: true, places: [] }, ...others]), []);
});

test("Events about one group within ten minutes have one name; later ones have another", () => {
  const occasions = [0, 599_999, 600_000].map((later) =>
    waitingEvents([waits(group("a"))], [waits(group("a"))], eight + later).map((effect) =>
      effect.do === "record" ? effect.occasion : "",
    ),
  );
  assert.deepEqual(occasions[0], occasions[1]);
  assert.notDeepEqual(occasions[1], occasions[2]);
});
