/** The end of a cluster of Apache's operator, which needs each right on its objects. */
import type { Stand } from "./stand.ts";

/** A cluster loses its autoscaler and its budget, then all its objects by a cleanup. */
export const endCluster = async (stand: Stand): Promise<void> => {
  const clusterTolerations = { instanceConfig: { initWorkers: 1, minWorkers: 0, maxWorkers: 0 } };
  await stand.patch("SparkCluster", "cluster", { spec: { clusterTolerations } });
  await stand.turn(5_000);
  const record = "sparkcluster.cluster";
  if (stand.get("Checkpoint", record) === undefined) return;
  const since = stand.simulator.clock.now();
  // Without its seal, as rekindle recover writes it.
  await stand.patch("Checkpoint", record, {
    metadata: { annotations: { "rekindle.dev/seal": null } },
    spec: { cleanup: { since, graceSeconds: 0, forceAt: since } },
  });
  await stand.turn(15_000);
};
