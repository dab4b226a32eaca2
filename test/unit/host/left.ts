/**
 * A Volcano job as upstream's controllers left it on a simulated cluster, in any phase and with any part of its
 * objects.
 */

import assert from "node:assert/strict";
import { mergeObject, request } from "../../../shared/adapters/kubernetes/requests.ts";
import type { Stored } from "../../../shared/core/object.ts";
import { timeText } from "../../../shared/core/time.ts";

import { completed, type LeftJob, leftOf } from "../../support/left-job.ts";
import { at, home, queue, resources, volcanoJob } from "./objects.ts";
import type { Stand } from "./stand.ts";

export const schedulers = { schedulers: ["default-scheduler", "volcano"] } as const;

export const shown = (stand: Stand): unknown => at(stand.get("Job", "pair"), "status", "state", "phase");

export const counters = (stand: Stand): readonly unknown[] =>
  ["version", "retryCount"].map((name) => at(stand.get("Job", "pair"), "status", name) ?? 0);

const told = async (stand: Stand, status: unknown): Promise<void> => {
  const object = stand.get("Job", "pair");
  const path = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs/pair/status";
  await request(stand.simulator.transport, "PUT", path, { ...object, status });
};

const phaseOf = (pod: Stored): unknown => at(pod, "status", "phase");

/** The objects of a job that exist beside the job itself. */
export type Parts = {
  readonly spec?: Readonly<Record<string, unknown>>;
  /** The scripts of the simulated pods, by ordinal. Absent: no pods. */
  readonly lives?: readonly object[];
  readonly standing?: Parameters<typeof leftOf>[1];
  /** The phase of its PodGroup; absent: it has none. */
  readonly group?: string;
  /** Whether the objects of its plugins exist. */
  readonly shared?: boolean;
  /** Upstream has deleted its pods, which are still terminating. */
  readonly ending?: boolean;
  /** Upstream has marked its pods as out of sync, and died before it deleted them. */
  readonly marked?: boolean;
};

export const runs = [{}, {}];

const settled = (stand: Stand, count: number): boolean =>
  stand.all("Pod").filter((pod) => phaseOf(pod) !== "Pending").length === count;

const placed = async (stand: Stand, left: LeftJob, { lives = [], marked = false }: Parts): Promise<void> => {
  for (const [index, life] of lives.entries()) {
    const pod = left.pods[index];
    assert.ok(pod !== undefined);
    const script = { "simulator.rekindle.dev/script": JSON.stringify(life) };
    const mark = marked ? { "volcano.sh/controller-out-of-sync": "true" } : {};
    const annotations = { ...pod.metadata.annotations, ...script, ...mark };
    await stand.create({ ...pod, metadata: { ...pod.metadata, annotations } });
  }
};

/** Creates the job as upstream left it; the status that upstream wrote comes last. */
export const leave = async (stand: Stand, parts: Parts, status: (now: number) => object): Promise<LeftJob> => {
  await stand.create(home);
  for (const one of [queue, { ...queue, metadata: { name: "root" } }]) await stand.create(one);
  await stand.create(completed(volcanoJob("pair", {}, parts.spec)));
  const job = stand.get("Job", "pair");
  assert.ok(job !== undefined);
  const left = leftOf(job, parts.standing);
  if (parts.group !== undefined) {
    await stand.create(left.group);
    const ref = {
      resource: resources["PodGroup"] ?? assert.fail(),
      namespace: "default",
      name: left.group.metadata.name,
    };
    await mergeObject(stand.simulator.transport, { ref }, { status: { phase: parts.group } });
  }
  for (const object of left.shared) await stand.create(object);
  const { lives = [] } = parts;
  await placed(stand, left, parts);
  await stand.until("its pods are as they are", () => settled(stand, lives.length), 120_000);
  await stand.turn(3_000);
  if (parts.ending === true) for (const { metadata } of stand.all("Pod")) await stand.remove("Pod", metadata.name);
  if (parts.shared !== true) for (const { kind, metadata } of left.shared) await stand.remove(kind, metadata.name);
  await told(stand, status(stand.simulator.clock.now()));
  return left;
};

/** Sets every PodGroup that is created from here on to Inqueue. */
export const admitting = (stand: Stand): void =>
  void stand.simulator.subscribe(({ type, table, object }) => {
    if (type !== "ADDED" || table !== "podgroups.scheduling.volcano.sh") return;
    void stand.patch("PodGroup", object.metadata.name, { status: { phase: "Inqueue" } });
  });

export const ended = (stand: Stand): readonly string[] => stand.writes().filter((line) => line.startsWith("DELETE"));

/** Lists the resources of the objects that are created from here on, without Events and Checkpoints. */
export const counting = (stand: Stand): readonly string[] => {
  const made: string[] = [];
  stand.simulator.subscribe(({ type, table }) => {
    if (type === "ADDED" && !/^(events|checkpoints)/.test(table)) made.push(table.split(".")[0] ?? "");
  });
  return made;
};

export const uids = (stand: Stand, kind: string): readonly string[] =>
  stand.all(kind).map(({ metadata }) => metadata.uid);

/** Returns a status as upstream writes it. */
export const status =
  (phase: string, more: object = {}) =>
  (now: number): object => ({
    state: { phase, lastTransitionTime: timeText(now) },
    ...{ minAvailable: 2, conditions: [{ status: phase, lastTransitionTime: timeText(now) }] },
    ...more,
  });
