/**
 * The writes of an admission round: an admitted group becomes Inqueue and gets its plan; a waiting one gets its reason,
 * once; one whose pods did not get their places is taken back.
 */
import type { Stored } from "../../core/object.ts";
import type { Effect } from "../../core/plan.ts";
import { timeText } from "../../core/time.ts";
import { isRecord, type Json } from "../../kube/responses.ts";
import { statusOf } from "../queue/state/tree.ts";
import { podGroups } from "../schema/resource.ts";
import type { Verdict } from "./admission.ts";
import type { Obstacle } from "./ground.ts";
import { lacksRoomKey } from "./hold.ts";
import { phaseOf } from "./phase.ts";
import { letIn, type Place, planKey, planText } from "./plan.ts";
import { type Refused, retryAt, type TakenBack, takenBackKey, takenBackOf, takenBackText } from "./take-back.ts";

/** The scheduler that places pods where Volcano's scheduler does not. */
export const placer = "default-scheduler";

/** The most nodes that are remembered as having refused a group. */
const mostNodes = 100;

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

/** One patch admits the group and saves its plan, so that no step sees one without the other. */
const entering = (group: Stored, places: readonly Place[], now: number): Effect => {
  const conditions = conditionsOf(group).length === 0 ? {} : { conditions: others(group) };
  const { [lacksRoomKey]: lacked } = group.metadata.annotations ?? {};
  return patchOf(group, {
    metadata: {
      annotations: {
        [letIn]: placer,
        ...(places.length === 0 ? {} : { [planKey]: planText(places, now) }),
        ...(lacked === undefined ? {} : { [lacksRoomKey]: null }),
      },
    },
    status: { phase: "Inqueue", ...conditions },
  });
};

const isTold = (group: Stored, { why, lacksRoom }: Obstacle): boolean =>
  phaseOf(group) === "Pending" &&
  conditionsOf(group).some(({ type, message }) => type === "Unschedulable" && message === why) &&
  (group.metadata.annotations?.[lacksRoomKey] !== undefined) === (lacksRoom === true);

const conditionOf = (group: Stored, reason: string, message: string, now: number): Json => ({
  ...{ type: "Unschedulable", status: "True", reason, message },
  ...{ transitionID: group.metadata.resourceVersion, lastTransitionTime: timeText(now) },
});

/** Returns the change of the annotation that says since when the group has lacked only room. */
const lacksRoomFrom = (group: Stored, { lacksRoom }: Obstacle, now: number): Json => {
  const since = group.metadata.annotations?.[lacksRoomKey];
  const lacks = lacksRoom === true;
  if ((since !== undefined) === lacks) return {};
  return { metadata: { annotations: { [lacksRoomKey]: lacks ? timeText(now) : null } } };
};

const waiting = (group: Stored, obstacle: Obstacle, now: number): Effect =>
  patchOf(group, {
    ...lacksRoomFrom(group, obstacle, now),
    status: {
      phase: "Pending",
      conditions: [...others(group), conditionOf(group, "NotEnoughResources", obstacle.why, now)],
    },
  });

/** Returns the writes for the verdicts; none for a group whose status gives the reason already. */
export const admissionEffects = (verdicts: readonly Verdict[], now: number): readonly Effect[] =>
  verdicts.flatMap((verdict) => {
    if (verdict.enters) return [entering(verdict.group, verdict.places, now)];
    return verdict.isTold === true || isTold(verdict.group, verdict) ? [] : [waiting(verdict.group, verdict, now)];
  });

/** Takes a group back whole: it waits again and has no plan; the job's step deletes its pods. */
export const takingBack = (group: Stored, { nodes, message }: Refused, now: number): Effect => {
  const back: TakenBack = { at: now, times: (takenBackOf(group)?.times ?? 0) + 1, nodes: nodes.slice(0, mostNodes) };
  const why = `${message}; it is tried again after ${timeText(retryAt(back))}`;
  return patchOf(group, {
    metadata: { annotations: { [planKey]: null, [letIn]: null, [takenBackKey]: takenBackText(back) } },
    status: { phase: "Pending", conditions: [...others(group), conditionOf(group, "GangNotBound", why, now)] },
  });
};
