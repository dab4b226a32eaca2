/** Apache's SparkApplication for the judge of what Kueue admits: its Workload is finished where its pods are kept, and else gone at its end. */
import { roleOf, textAt } from "../fields.ts";
import type { Queued } from "../volcano/kueue-judge.ts";

export const queuedApplication: Queued = {
  table: "sparkapplications.spark.apache.org",
  isOf: ({ metadata }) => metadata.labels?.["spark.operator/spark-app-name"] === "pi",
  setOf: (pod) => roleOf(pod) ?? "",
  stateOf: (application) => textAt(application, "status", "currentState", "currentStateSummary") ?? "",
  ends: ["TerminatedWithoutReleaseResources"],
};
