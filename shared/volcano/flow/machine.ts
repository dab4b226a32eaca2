/** Phases of a JobFlow: a table of what its jobs are like and what follows. */
import type { FlowPhase } from "../schema/flow.ts";

/** What the jobs of a flow are like together: the first that is so. */
export type Situation = "failed" | "complete" | "begun" | "idle";

/** As upstream's states; a flow is seen Running before it has succeeded. */
export const table: Readonly<Record<FlowPhase, Readonly<Record<Situation, FlowPhase>>>> = {
  Pending: { failed: "Failed", complete: "Running", begun: "Running", idle: "Pending" },
  Running: { failed: "Failed", complete: "Succeed", begun: "Running", idle: "Running" },
  Succeed: { failed: "Succeed", complete: "Succeed", begun: "Succeed", idle: "Succeed" },
  Failed: { failed: "Failed", complete: "Failed", begun: "Failed", idle: "Failed" },
};

/** Nothing begins any more. */
export const isOver = (phase: FlowPhase): boolean => phase === "Succeed" || phase === "Failed";

export type Counts = {
  readonly failed: number;
  readonly running: number;
  readonly complete: number;
  readonly all: number;
};

export const situationOf = ({ failed, running, complete, all }: Counts): Situation => {
  if (failed > 0) return "failed";
  if (complete === all && all > 0) return "complete";
  return running + complete > 0 ? "begun" : "idle";
};
