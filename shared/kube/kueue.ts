/** Kueue's labels: https://kueue.sigs.k8s.io/docs/reference/labels-and-annotations. */
import type { Obj } from "../core/object.ts";
import { until, type WaitingOn } from "../core/waiting-on.ts";

/** The label that names the LocalQueue of an object, whose start and stop Kueue then decides. */
const queueLabel = "kueue.x-k8s.io/queue-name";

/** Returns the LocalQueue of an object; undefined if Kueue does not admit it. */
export const localQueueOf = ({ metadata }: Obj): string | undefined => {
  const queue = metadata.labels?.[queueLabel];
  return queue === "" ? undefined : queue;
};

/** The wait of an object for its Workload. */
export const untilAdmitted = (queue: string): WaitingOn =>
  until("its Workload of Kueue", "admitted", `LocalQueue ${queue}`);
