/** Jobs for tests of their decisions. */
import type { Key } from "../../../../shared/core/key.ts";
import { volcanoJob } from "../../../../shared/volcano/job/decide.ts";
import type { Memory } from "../../../../shared/volcano/job/memory.ts";
import { type Fixture, fixtureOf } from "../fixture.ts";

type Fields = Readonly<Record<string, unknown>>;

export type JobFixture = Fixture<Memory>;

export const key: Key = { cluster: "here", kind: "Job", namespace: "ns", name: "j" };

/** 2026-11-02T08:00:00Z. */
export const eight = Date.UTC(2026, 10, 2, 8);

const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "x" }] } };

/** Returns a task of this many pods. */
export const task = (name: string, replicas: number, more: Fields = {}): Fields => ({
  name,
  replicas,
  template,
  ...more,
});

/** Opens a fixture of the job `j` in an open queue. */
export const openJob = (spec: Fields, more: Fields = {}): JobFixture => {
  const job = { apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job", metadata: { name: "j" }, spec, ...more };
  const fixture = fixtureOf(volcanoJob, job, eight);
  fixture.put("queues", { apiVersion: "v1", kind: "Queue", metadata: { name: "default" }, status: { state: "Open" } });
  return fixture;
};

export const phaseOf = (fixture: JobFixture): string | undefined => fixture.status().state?.phase;
