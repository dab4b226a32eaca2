/** Previews the next step of a key: the engine decides it, and nothing is written. */
import type { Session } from "../../cli/io/tools.ts";
import type { Key } from "../../core/key.ts";
import type { Plan } from "../../core/plan.ts";
import type { Queue, Report } from "../../engine/ports.ts";
import { step } from "../../engine/reconcile/step.ts";
import { timing } from "../../engine/settings.ts";
import { operatorsFor } from "../common/operators.ts";
import { openWorld, operatorsByKind } from "../common/step-dependencies.ts";

const silent: Report = () => {};
const nowhere: Queue = { send: async () => {}, sendLater: async () => {} };

export type Previewed =
  | { readonly would: "plan"; readonly plan: Plan<unknown> }
  | { readonly would: "nothing" | "stop"; readonly why: string };

/** Previews the step. Records are read from `table`, else from the cluster. */
export const preview = async (
  { transport, table }: Pick<Session, "transport" | "table">,
  key: Key,
): Promise<Previewed> => {
  const checkpoints = table?.records;
  const operatorOf = operatorsByKind(operatorsFor(timing));
  const parts = { transport, checkpoints, queue: nowhere, report: silent, timing, operatorOf };
  const world = await openWorld(parts);
  const plans: Plan<unknown>[] = [];
  const ending = await step({ ...world, shadow: (_, plan) => void plans.push(plan) }, { ...key, reason: "preview" });
  const [plan] = plans;
  if (plan !== undefined) return { would: "plan", plan };
  if (ending.did === "troubled") throw new Error(ending.message);
  if (ending.did === "stopped") return { would: "stop", why: ending.why };
  return { would: "nothing", why: "why" in ending ? ending.why : ending.did };
};
