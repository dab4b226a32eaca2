/**
 * The step of an object whose `spec.managedBy` names another controller: nothing is saved, created, changed or deleted. An
 * Event tells it when the object is first seen; its name is deterministic, so that a repeat creates none.
 */
import type { Effect } from "../../core/plan.ts";
import { applyStage } from "../cluster/apply.ts";
import { applyContextOf, type Ending, type FirstRead, type StepContext } from "../context/world.ts";

/** Leaves the object to the controller. The Event is optional: a failed one is not tried again. */
export const leaveTo = async (
  manager: string,
  call: Omit<StepContext, "observation">,
  observed: FirstRead,
): Promise<Ending> => {
  const { world, message, operator } = call;
  const ending: Ending = { did: "nothing", why: `managed by ${manager}` };
  const object = observed.see === "observation" ? observed.observation.object : undefined;
  if (observed.see !== "observation" || object === undefined || message.fresh !== true || world.shadow !== undefined)
    return ending;
  const event: Effect = {
    do: "record",
    about: object,
    resource: operator.resource,
    occasion: `managed by ${manager}`,
    type: "Normal",
    reason: "ManagedByOther",
    message: `spec.managedBy names ${manager}: Rekindle leaves this ${operator.kind} to that controller`,
  };
  const context = applyContextOf({ ...call, observation: observed.observation }, call.looked + world.timing.fenceMs);
  await applyStage(context, [event], 1);
  return ending;
};
