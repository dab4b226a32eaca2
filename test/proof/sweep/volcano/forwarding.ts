/** A job in a queue that forwards its pods to other clusters, restarted once. */
import type { Scenario } from "../scenario.ts";
import { done, fails, job, living, long, policy } from "./jobs.ts";

export const forwarding: Scenario = job({
  name: "job-forwarding",
  what: "its queue sends its pods to other clusters, which the job, its group and its pods say",
  spec: { queue: "away", policies: [policy("PodFailed", "RestartJob")] },
  stands: [
    [
      "/apis/scheduling.volcano.sh/v1beta1/queues",
      {
        apiVersion: "scheduling.volcano.sh/v1beta1",
        kind: "Queue",
        metadata: { name: "away" },
        spec: { extendClusters: [{ name: "other" }] },
      },
    ],
  ],
  lives: living({ "worker-1": [fails, done], "*": [long, done] }),
  ends: "Completed",
});
