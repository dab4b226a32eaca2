/** The rules by which a job's phase changes, named in machine.ts and evaluated on the counts of its pods. */
import { type JobSpec, nameOf, type Task, tasksOf, totalReplicas } from "../schema/spec.ts";
import type { Phase } from "../schema/words.ts";
import type { Move, Rule } from "./machine.ts";
import type { Tally } from "./pod-counts.ts";

export type Counted = {
  readonly spec: JobSpec;
  readonly tally: Tally;
  readonly retryCount: number;
  /** A job that is held must not have pods yet. */
  readonly held?: boolean;
};

const least = ({ minAvailable }: JobSpec): number => minAvailable ?? 0;

const leastTogether = (spec: JobSpec): number =>
  tasksOf(spec).reduce((sum, { minAvailable, replicas }) => sum + (minAvailable ?? replicas ?? 0), 0);

/** True for a task with its own minAvailable of which fewer pods succeeded. */
const fellShort =
  ({ byTask }: Tally) =>
  (task: Task): boolean => {
    const phases = byTask[nameOf(task)];
    return task.minAvailable !== undefined && phases !== undefined && (phases["Succeeded"] ?? 0) < task.minAvailable;
  };

/** Returns the final phase of a job whose pods have all finished. */
const verdict = ({ spec, tally }: Counted): Phase => {
  const { minSuccess } = spec;
  if (least(spec) >= leastTogether(spec) && tasksOf(spec).some(fellShort(tally))) return "Failed";
  if (minSuccess !== undefined && tally.succeeded < minSuccess) return "Failed";
  return tally.succeeded >= least(spec) ? "Completed" : "Failed";
};

const gangUp = ({ spec, tally }: Counted): Phase =>
  least(spec) <= tally.running + tally.succeeded + tally.failed ? "Running" : "Pending";

const tasksDone = (counted: Counted): Phase => {
  const { spec, tally } = counted;
  const total = totalReplicas(spec);
  if (total === 0) return "Running";
  if (spec.minSuccess !== undefined && tally.succeeded >= spec.minSuccess) return "Completed";
  if (tally.succeeded + tally.failed === total) return verdict(counted);
  return tally.pending > total - least(spec) ? "Pending" : "Running";
};

/** A job without retries left fails; retries are checked first. */
const podsGone = ({ spec, tally, retryCount, held }: Counted): Phase => {
  if (retryCount >= (spec.maxRetry ?? 0)) return "Failed";
  if (held === true) return "Restarting";
  return totalReplicas(spec) - tally.terminating >= tally.minAvailable ? "Pending" : "Restarting";
};

/** True if no pod is terminating, pending or running. Pods of unknown phase do not count. */
const isDrained = ({ tally }: Counted): boolean => tally.terminating + tally.pending + tally.running === 0;

type Follows = (from: Phase, to: Phase | undefined, counted: Counted) => Phase;

const rules: Readonly<Record<Rule, Follows>> = {
  now: (from, to) => to ?? from,
  never: (from) => from,
  whenGangIsUp: (_, __, counted) => gangUp(counted),
  whenTasksAreDone: (_, __, counted) => tasksDone(counted),
  whenPodsAreGone: (_, __, counted) => podsGone(counted),
  whenDrained: (from, to, counted) => (isDrained(counted) ? (to ?? from) : from),
};

/** Returns the phase that a move leads to. */
export const phaseAfter = (from: Phase, { when, into }: Move, counted: Counted): Phase =>
  rules[when](from, into, counted);
