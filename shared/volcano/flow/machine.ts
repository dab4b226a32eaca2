/** The phases of a JobFlow as a table: phase × situation of its jobs → the next phase. */
import type { FlowPhase } from "../schema/flow.ts";

/** The situation of all jobs of a flow: the first that applies. */
export type Situation = "failed" | "complete" | "begun" | "idle";

/** As upstream's states; a flow is seen Running before it has succeeded. */
export const table: Readonly<Record<FlowPhase, Readonly<Record<Situation, FlowPhase>>>> = {
  Pending: { failed: "Failed", complete: "Running", begun: "Running", idle: "Pending" },
  Running: { failed: "Failed", complete: "Succeed", begun: "Running", idle: "Running" },
  Succeed: { failed: "Succeed", complete: "Succeed", begun: "Succeed", idle: "Succeed" },
  Failed: { failed: "Failed", complete: "Failed", begun: "Failed", idle: "Failed" },
};

/** True in phases in which no job is created any more. */
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
