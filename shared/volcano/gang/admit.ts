/**
 * The writes of an admission round: an admitted group becomes Inqueue and gets an annotation; a waiting one gets its
 * reason, once.
 */
import type { Stored } from "../../core/object.ts";
import type { Effect } from "../../core/plan.ts";
import { timeText } from "../../core/time.ts";
import { isRecord, type Json } from "../../kube/responses.ts";
import { statusOf } from "../queue/state/tree.ts";
import { podGroups } from "../schema/resource.ts";
import { phaseOf, type Verdict } from "./admission.ts";

/** Annotation of a group that Rekindle admitted; it names the scheduler of the group's pods. */
export const letIn = "rekindle.dev/scheduled-by";

/** The scheduler that places pods where Volcano's scheduler does not. */
export const placer = "default-scheduler";

/** The most writes at once: as many as a step's fence leaves time for. */
export const mostAtOnce = 300;

const conditionsOf = (group: Stored): readonly Json[] => {
  const { conditions } = statusOf(group);
  return Array.isArray(conditions) ? conditions.filter(isRecord) : [];
};

const others = (group: Stored): readonly Json[] => conditionsOf(group).filter(({ type }) => type !== "Unschedulable");

const patchOf = (group: Stored, patch: Json): Effect => {
  const { name, namespace = "", uid, resourceVersion } = group.metadata;
  return { do: "patch", ref: { resource: podGroups, namespace, name }, uid, resourceVersion, patch };
};

const entering = (group: Stored): Effect => {
  const conditions = conditionsOf(group).length === 0 ? {} : { conditions: others(group) };
  return patchOf(group, {
    metadata: { annotations: { [letIn]: placer } },
    status: { phase: "Inqueue", ...conditions },
  });
};

const isTold = (group: Stored, why: string): boolean =>
  phaseOf(group) === "Pending" &&
  conditionsOf(group).some(({ type, message }) => type === "Unschedulable" && message === why);

const waiting = (group: Stored, why: string, now: number): Effect => {
  const condition = {
    ...{ type: "Unschedulable", status: "True", reason: "NotEnoughResources", message: why },
    ...{ transitionID: group.metadata.resourceVersion, lastTransitionTime: timeText(now) },
  };
  return patchOf(group, { status: { phase: "Pending", conditions: [...others(group), condition] } });
};

/** Returns the writes for the verdicts; none for a group whose status gives the reason already. */
export const admissionEffects = (verdicts: readonly Verdict[], now: number): readonly Effect[] =>
  verdicts.flatMap((verdict) => {
    if (verdict.enters) return [entering(verdict.group)];
    return isTold(verdict.group, verdict.why) ? [] : [waiting(verdict.group, verdict.why, now)];
  });
