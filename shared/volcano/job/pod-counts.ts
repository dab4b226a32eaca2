/** Counts of a job's pods by phase, in total and by task. */

/** Phases by which pods are counted; a pod that is to go counts as terminating whatever its phase. */
export const podPhases = ["Pending", "Running", "Succeeded", "Failed", "Unknown"] as const;

export type PodPhase = (typeof podPhases)[number];

export type Tally = {
  readonly pending: number;
  readonly running: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly unknown: number;
  readonly terminating: number;
  /** The job's minAvailable. */
  readonly minAvailable: number;
  readonly byTask: Readonly<Record<string, Readonly<Partial<Record<PodPhase, number>>>>>;
};

/** A pod as it is counted. */
export type Counting = { readonly task: string; readonly phase: PodPhase; readonly terminating: boolean };

export const podPhaseOf = (phase: string | undefined): PodPhase =>
  podPhases.find((known) => known === phase) ?? "Unknown";

const tallied = (pods: readonly Counting[], phase: PodPhase): number =>
  pods.filter((pod) => pod.phase === phase).length;

const byPhase = (pods: readonly Counting[]): Readonly<Partial<Record<PodPhase, number>>> =>
  Object.fromEntries(
    podPhases.flatMap((phase) => {
      const count = tallied(pods, phase);
      return count === 0 ? [] : [[phase, count]];
    }),
  );

/** Counts the pods; a task without a counted pod has no entry. */
export const tallyOf = (pods: readonly Counting[], minAvailable: number): Tally => {
  const staying = pods.filter(({ terminating }) => !terminating);
  const groups = Map.groupBy(staying, ({ task }) => task);
  return {
    pending: tallied(staying, "Pending"),
    running: tallied(staying, "Running"),
    succeeded: tallied(staying, "Succeeded"),
    failed: tallied(staying, "Failed"),
    unknown: tallied(staying, "Unknown"),
    terminating: pods.length - staying.length,
    minAvailable,
    byTask: Object.fromEntries([...groups].map(([task, its]) => [task, byPhase(its)])),
  };
};
