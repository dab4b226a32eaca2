/** One bad input for a Volcano job, and what its writer is told: at the door, and in the job where no webhook is installed. */

export type Fields = Readonly<Record<string, unknown>>;

export type Row = {
  readonly name: string;
  readonly spec: unknown;
  /** Of the job; "train" where it is not what is wrong. */
  readonly job?: string;
  readonly says: RegExp;
};

export const container: Fields = { name: "main", image: "busybox" };

export const template: Fields = { spec: { restartPolicy: "Never", containers: [container] } };

export const task: Fields = { name: "work", replicas: 2, template };

/** A spec that runs. */
export const good: Fields = { tasks: [task] };

/** The spec that runs, with fields of its own changed. */
export const job = (name: string, changes: Fields, says: RegExp): Row => ({
  ...{ name, says },
  spec: { ...good, ...changes },
});

/** The same with its one task changed. */
export const ofTask = (name: string, changes: Fields, says: RegExp): Row =>
  job(name, { tasks: [{ ...task, ...changes }] }, says);

/** The same with the pod's spec of its one task changed. */
export const ofPod = (name: string, changes: Fields, says: RegExp): Row =>
  ofTask(name, { template: { spec: { restartPolicy: "Never", containers: [container], ...changes } } }, says);
