/**
 * One bad input for a Volcano job and the message that its user gets: from admission, and in the job's status where no
 * webhook is installed.
 */

export type Fields = Readonly<Record<string, unknown>>;

export type Row = {
  readonly name: string;
  readonly spec: unknown;
  /** The job's name; "train" unless the name is the bad input. */
  readonly job?: string;
  readonly says: RegExp;
};

export const container: Fields = { name: "main", image: "busybox" };

export const template: Fields = { spec: { restartPolicy: "Never", containers: [container] } };

export const task: Fields = { name: "work", replicas: 2, template };

/** A valid spec. */
export const good: Fields = { tasks: [task] };

/** Returns a row of the valid spec with these fields changed. */
export const job = (name: string, changes: Fields, says: RegExp): Row => ({
  ...{ name, says },
  spec: { ...good, ...changes },
});

/** Returns a row whose only task has these fields changed. */
export const ofTask = (name: string, changes: Fields, says: RegExp): Row =>
  job(name, { tasks: [{ ...task, ...changes }] }, says);

/** Returns a row whose only task has these fields of its pod spec changed. */
export const ofPod = (name: string, changes: Fields, says: RegExp): Row =>
  ofTask(name, { template: { spec: { restartPolicy: "Never", containers: [container], ...changes } } }, says);
