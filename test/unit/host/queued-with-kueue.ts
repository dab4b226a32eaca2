/** A job and an application that Kueue admits and evicts, with every request that this needs. */
import type { Stored } from "../../../shared/core/object.ts";
import { evicted, flavorOf, reserved } from "../../support/kueue.ts";
import { ownWorkload } from "../../support/kueue-queue.ts";
import { application, volcanoJob } from "./objects.ts";
import type { Stand } from "./stand.ts";

/** It needs four executors, and then three; after its growth was evicted, one. */
export const growing = {
  jobMs: 400_000,
  gauge: [
    [0, 4],
    [25_000, 3],
    [90_000, 1],
  ],
  executors: { "*": { busyMs: 0 } },
} as const;

type WorkloadStatus = (workload: Stored, now: number) => object;

/** Writes the status of a Workload as Kueue does, and lets time pass. */
const asKueue = async (stand: Stand, workload: Stored | undefined, status: WorkloadStatus): Promise<void> => {
  if (workload !== undefined)
    stand.simulator.handle({
      ...{ method: "PATCH", headers: { "content-type": "application/merge-patch+json" } },
      path: `/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads/${workload.metadata.name}/status`,
      body: JSON.stringify({ status: status(workload, stand.simulator.clock.now()) }),
    });
  await stand.turn(20_000);
};

/**
 * Runs a job that Kueue admits, evicts and admits again, and loses its Workload to its suspension. The Workload is
 * deleted by a user, so that the host reads twice that there is none.
 */
export const queueWithKueue = async (stand: Stand): Promise<void> => {
  const workload = (): Stored | undefined => stand.all("Workload")[0];
  const write = (status: WorkloadStatus): Promise<void> => asKueue(stand, workload(), status);
  const metadata = { name: "urgent" };
  await stand.create({ apiVersion: "kueue.x-k8s.io/v1beta2", kind: "WorkloadPriorityClass", metadata, value: 1 });
  await stand.create(flavorOf("spot"));
  const job = volcanoJob("queued", { runMs: 60_000 }, { ttlSecondsAfterFinished: 5 });
  const labels = { "kueue.x-k8s.io/queue-name": "team-a", "kueue.x-k8s.io/priority-class": "urgent" };
  await stand.create({ ...job, metadata: { ...job.metadata, labels } });
  await stand.turn(20_000);
  await write((one, now) => reserved(one, "spot", now, true));
  const there = workload();
  if (there !== undefined) await stand.remove("Workload", there.metadata.name);
  await stand.turn(40_000);
  await write((one, now) => reserved(one, "spot", now, true));
  await write((one, now) => evicted(one, "Preempted", now));
  if (stand.get("Job", "queued") !== undefined)
    await stand.patch("Job", "queued", { metadata: { annotations: { "rekindle.dev/suspend": "true" } } });
  await stand.turn(20_000);
  await stand.remove("Job", "queued");
};

/** Runs an application whose growth waits, is resized, admitted and evicted, and deleted when it is no longer needed. */
export const growWithKueue = async (stand: Stand): Promise<void> => {
  const labels = { "kueue.x-k8s.io/queue-name": "team-a" };
  const annotations = { "rekindle.dev/executors": "own" };
  const sparkConf = { "spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.executorIdleTimeout": "10s" };
  await stand.create(application("grown", { labels, annotations, spec: { sparkConf } }));
  const made = stand.get("SparkApplication", "grown");
  if (made !== undefined) await stand.create(ownWorkload(made, 1));
  const growth = (): Stored | undefined =>
    stand.all("Workload").find((one) => one.metadata.name.startsWith("grown-grow-"));
  const write = (status: WorkloadStatus): Promise<void> => asKueue(stand, growth(), status);
  await stand.turn(60_000);
  await write((one, now) => reserved(one, "spot", now, true));
  await write((one, now) => evicted(one, "Preempted", now));
  await stand.turn(60_000);
  await stand.remove("SparkApplication", "grown");
};
