/** Jobs in a queue of Kueue. `kueue-judge.ts` holds what the scenarios must keep, and the stand-in for Kueue. */
import { flavorOf, kueueCrds } from "../../../support/kueue.ts";
import type { Scenario } from "../scenario.ts";
import { living, workers } from "./jobs.ts";

export const stands: NonNullable<Scenario["stands"]> = [
  ...kueueCrds.map((crd) => ["/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd] as const),
  ["/apis/kueue.x-k8s.io/v1beta2/resourceflavors", { ...flavorOf("spot"), spec: {} }],
];

export const kueuedJobs: readonly Scenario[] = [
  {
    name: "job-kueued",
    kind: "Job",
    what: "Kueue admits it, evicts it once while it runs, admits it again, and has its quota back when it has completed",
    spec: { minAvailable: 2, maxRetry: 2, tasks: [workers] },
    labels: { "kueue.x-k8s.io/queue-name": "team-a" },
    stands,
    scripts: {},
    lives: living({ "*": [{ runMs: 30_000 }] }),
    kueued: true,
    userActions: [],
    ends: "Completed",
    breadth: "thin",
  },
  {
    name: "job-kueued-reclaimed",
    kind: "Job",
    what: "pods of a job that Kueue admits succeed one after the other, before and after an eviction: it gives back the quota of each",
    spec: { minAvailable: 2, maxRetry: 2, tasks: [workers] },
    labels: { "kueue.x-k8s.io/queue-name": "team-a" },
    stands,
    scripts: {},
    lives: living({ "worker-0": [{ runMs: 3_000 }], "*": [{ runMs: 20_000 }] }),
    kueued: true,
    userActions: [],
    ends: "Completed",
    breadth: "thin",
  },
  {
    name: "job-kueued-in-part",
    kind: "Job",
    what: "Kueue admits one of its two pods, evicts it, and admits both",
    spec: { minAvailable: 1, maxRetry: 2, tasks: [{ ...workers, minAvailable: 1 }] },
    labels: { "kueue.x-k8s.io/queue-name": "team-a" },
    annotations: { "rekindle.dev/partial-admission": "worker" },
    stands,
    scripts: {},
    lives: living({ "*": [{ runMs: 30_000 }] }),
    kueued: true,
    userActions: [],
    ends: "Completed",
    breadth: "thin",
  },
];
