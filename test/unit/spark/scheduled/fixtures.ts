/** Schedules and their runs as objects, and a decision that is run until its plan; all instants are literals. */

import assert from "node:assert/strict";
import type { Key } from "../../../../shared/core/key.ts";
import type { Stored } from "../../../../shared/core/object.ts";
import type { Effect, Looking, Plan, Refusal } from "../../../../shared/core/plan.ts";
import { timingOf } from "../../../../shared/kube/history.ts";
import { decide, type Memory } from "../../../../shared/spark/scheduled/decide.ts";
import { runsOf } from "../../../../shared/spark/scheduled/runs.ts";
import { resultOf } from "../../../support/decisions.ts";

export const key: Key = { cluster: "here", kind: "ScheduledSparkApplication", namespace: "ns", name: "nightly" };

/** Returns the instant of a time of 2026-11-02, UTC, in epoch ms. */
export const at = (text: string): number => Date.parse(`2026-11-02T${text}Z`);

export const template = { type: "Scala", sparkVersion: "4.1.1", mainApplicationFile: "local:///a.jar", driver: {} };

export type Spec = Readonly<Record<string, unknown>>;

export const schedule = (spec: Spec = {}, more: Partial<Stored> = {}): Stored => ({
  apiVersion: "sparkoperator.k8s.io/v1beta2",
  kind: "ScheduledSparkApplication",
  metadata: {
    name: "nightly",
    namespace: "ns",
    uid: "s-1",
    resourceVersion: "5",
    generation: 1,
    labels: { team: "a" },
  },
  spec: { schedule: "0 * * * *", template, ...spec },
  ...more,
});

/** Returns a run as the API holds it, created at the time in its name. */
export const run = (time: string, state: string, more: Partial<Stored["metadata"]> = {}): Stored => ({
  apiVersion: "sparkoperator.k8s.io/v1beta2",
  kind: "SparkApplication",
  metadata: {
    name: `nightly-${at(time) / 1_000}000000000`,
    namespace: "ns",
    uid: `u-${time}`,
    resourceVersion: "7",
    creationTimestamp: `2026-11-02T${time}Z`,
    labels: { "sparkoperator.k8s.io/scheduled-app-name": "nightly" },
    ownerReferences: [
      { apiVersion: "sparkoperator.k8s.io/v1beta2", kind: "ScheduledSparkApplication", name: "nightly", uid: "s-1" },
    ],
    ...more,
  },
  status: { applicationState: { state } },
});

export type Given = {
  readonly object?: Stored | undefined;
  readonly memory?: Memory | undefined;
  readonly runs?: readonly Stored[];
  readonly now: number;
  readonly refused?: readonly Refusal[];
};

/** Returns the plan; the decision reads these runs. */
export const planned = (given: Given): Plan<Memory> => {
  const { memory, runs = [], now, refused = [] } = given;
  const object = "object" in given ? given.object : schedule();
  const view = { object, uid: "s-1", memory, now, refused };
  const settings = { settledMs: 16_000 };
  const objects = (query: Looking) => {
    assert.deepEqual(query, runsOf(key));
    return runs;
  };
  return resultOf(decide(settings, key, view), { objects });
};

const short = (name: string): string => {
  const seconds = Number(/(\d{10})\d*$/.exec(name)?.[1] ?? Number.NaN);
  return Number.isNaN(seconds) ? name : new Date(seconds * 1_000).toISOString().slice(11, 19);
};

/** Returns the effects as texts, stage by stage; a run appears as the time in its name. */
export const said = (plan: Plan<Memory>): readonly string[] =>
  plan.stages.map((stage) => stage.map(effectText).join(", "));

const effectText = (effect: Effect): string => {
  if (effect.do === "create") return `create ${short(effect.object.metadata.name)}`;
  if (effect.do === "delete") return `delete ${short(effect.ref.name)} at ${effect.resourceVersion}`;
  return effect.do === "record" ? `tell ${effect.reason}` : effect.do;
};

export const timing = timingOf(schedule());

/** Returns the name of the run of a time. */
export const name = (time: string): string => run(time, "").metadata.name;

export const taken = (time: string): NonNullable<Memory["lastRun"]> => ({
  name: name(time),
  tick: at(time),
  at: at(time),
});

export const waiting: Memory = { timing, nextRun: at("09:00:00") };

/** Returns an instant as its time of day. */
export const timeOf = (instant: number | undefined): string | undefined =>
  instant === undefined ? undefined : new Date(instant).toISOString().slice(11, 19);

export const stateOf = ({ status }: Plan<Memory>): unknown => status?.["scheduleState"];
