/** The state machine of a job as a table: phase × action → the effect on the pods, and the rule for the next phase. */
import { type Action, actions, type Phase } from "../schema/resource.ts";

/** The effect on the pods: kept as the spec says, or ended: all, all unfinished ones, or those of one target. */
export type PodsAct = "sync" | "killAll" | "killUnfinished" | "killTask" | "killPod" | "killPartition";

/** When the phase changes: at once, never, or by one of the rules of phase-rules.ts. */
export type Rule = "now" | "never" | "whenGangIsUp" | "whenTasksAreDone" | "whenPodsAreGone" | "whenDrained";

export type Move = {
  readonly pods: PodsAct;
  readonly when: Rule;
  /** The phase that `now` and `whenDrained` lead to. */
  readonly into?: Phase;
  /** Counts as a retry. */
  readonly spends?: true;
};

type Row = Readonly<Partial<Record<Action, Move>>> & { readonly otherwise: Move };

const into = (phase: Phase): Move => ({ pods: "killUnfinished", when: "now", into: phase });

/** Actions that end a job, for good or until it is resumed. */
const endings = {
  AbortJob: into("Aborting"),
  TerminateJob: into("Terminating"),
  CompleteJob: into("Completing"),
} as const;

const restart = (pods: PodsAct): Move => ({ pods, when: "now", into: "Restarting", spends: true });

const restarts = {
  RestartJob: restart("killAll"),
  RestartTask: restart("killTask"),
  RestartPod: restart("killPod"),
  RestartPartition: restart("killPartition"),
} as const;

const settling = (pods: PodsAct): Move => ({ pods, when: "whenPodsAreGone" });

/** No restart begins during another one. Unlike upstream, an action that ends the job takes effect during a restart. */
const restarting: Row = {
  ...endings,
  SyncJob: settling("sync"),
  RestartTask: settling("killTask"),
  RestartPod: settling("killPod"),
  RestartPartition: settling("killPartition"),
  otherwise: settling("killAll"),
};

const resumes = { ResumeJob: restart("killUnfinished") } as const;

const draining = (phase: Phase): Row => ({ otherwise: { pods: "killUnfinished", when: "whenDrained", into: phase } });

const finished: Row = { otherwise: { pods: "killUnfinished", when: "never" } };

/** As volcano state/*.go, except for the endings of Restarting. */
export const table: Readonly<Record<Phase, Row>> = {
  Pending: { ...endings, ...restarts, otherwise: { pods: "sync", when: "whenGangIsUp" } },
  Running: { ...endings, ...restarts, otherwise: { pods: "sync", when: "whenTasksAreDone" } },
  Restarting: restarting,
  Aborting: { ...resumes, ...draining("Aborted") },
  Aborted: { ...resumes, ...finished },
  Terminating: draining("Terminated"),
  Terminated: finished,
  Completing: draining("Completed"),
  Completed: finished,
  Failed: finished,
};

/** Actions that a command may name. Those on a part of the job are excluded: a command names no task and no pod. */
export const commandActions: readonly Action[] = actions.filter(
  (action) => !["RestartTask", "RestartPod", "RestartPartition"].includes(action),
);

export const moveFor = (phase: Phase, action: Action): Move => table[phase][action] ?? table[phase].otherwise;

/** True in phases that no longer change unless the job is resumed. */
export const isFinished = (phase: Phase): boolean => table[phase].otherwise.when === "never";

const working: readonly Phase[] = ["Pending", "Running", "Restarting"];

/** True in phases in which the job is to reach its end by itself: no action has ended it, for good or for a time. */
export const isWorking = (phase: Phase): boolean => working.includes(phase);
