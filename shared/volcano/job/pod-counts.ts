/** How many of a job's pods are in which phase, altogether and by task. */

/** Phases that a pod is counted by; one that is on its way out counts as terminating whatever it still does. */
export const podPhases = ["Pending", "Running", "Succeeded", "Failed", "Unknown"] as const;

export type PodPhase = (typeof podPhases)[number];

export type Tally = {
  readonly pending: number;
  readonly running: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly unknown: number;
  readonly terminating: number;
  /** What the job was told to need when its pods were made. */
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

/** Tasks without any pod that counts have no entry. */
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
