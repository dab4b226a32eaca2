/** Kueue's labels: https://kueue.sigs.k8s.io/docs/reference/labels-and-annotations. */
import type { Obj } from "../core/object.ts";

/** The label that names the LocalQueue of an object, whose start and stop Kueue then decides. */
const queueLabel = "kueue.x-k8s.io/queue-name";

/** Returns the LocalQueue of an object; undefined if Kueue does not admit it. */
export const localQueueOf = ({ metadata }: Obj): string | undefined => {
  const queue = metadata.labels?.[queueLabel];
  return queue === "" ? undefined : queue;
};
