/** Checks the queue that a job or a group of pods names, in upstream's words. */

/** The fields of a queue that jobs and groups depend on. */
export type QueueView = { readonly name: string; readonly state: string; readonly children: number };

/** The queue that every cluster has: without Volcano's scheduler, the first job's step creates it and waits for it. */
const usual = "default";

/** Returns what is wrong with the queue; `queue` undefined: none has this name. */
export const jobQueueSaying = (name: string, queue: QueueView | undefined): string => {
  if (name === usual && (queue === undefined || queue.state === "")) return "";
  if (queue === undefined) return ` unable to find job queue: queue.scheduling.volcano.sh "${name}" not found;`;
  const closed = ` can only submit job to queue with state \`Open\`, queue \`${name}\` status is \`${queue.state}\`;`;
  const problem = queue.state === "Open" ? "" : closed;
  if (name === "root") return `${problem} can not submit job to root queue;`;
  if (queue.children === 0) return problem;
  return `${problem} can only submit job to leaf queue, queue \`${name}\` has ${queue.children} child queues;`;
};
