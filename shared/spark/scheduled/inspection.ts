/** The kind ScheduledSparkApplication as the command line and the page show it: when it ran, when it runs next. */
import * as z from "zod";
import { instantOf } from "../../core/time.ts";
import { type Advice, adviceOf, type KindInspection, quiet } from "../../kube/object-state.ts";
import { isDriver } from "../executors/roles.ts";
import { scheduleLabel } from "../schema/resource.ts";
import { scheduledSparkApplicationStates } from "./states.ts";

const scheduleShape = z.object({
  spec: z.object({ schedule: z.string(), timeZone: z.string().optional(), suspend: z.boolean().optional() }),
  status: z
    .object({
      scheduleState: z.string().optional(),
      reason: z.string().optional(),
      lastRun: z.string().nullish(),
      nextRun: z.string().nullish(),
      lastRunName: z.string().optional(),
    })
    .default({}),
});

const outlookOf = (state: string, next: string | undefined, isSuspended: boolean): Advice => {
  if (isSuspended)
    return { waitsFor: "spec.suspend to become false", todo: "rekindle resume it when it is to run again" };
  const { states } = scheduledSparkApplicationStates;
  if (state !== "" && state !== "FailedValidation" && next !== undefined)
    return { waitsFor: `its next run at ${next}`, todo: quiet };
  return adviceOf(scheduledSparkApplicationStates, states[state] === undefined ? "Scheduled" : state, "state");
};

export const scheduledSparkApplicationInspection: KindInspection = {
  podLabels: (name) => ({ [scheduleLabel]: name }),
  stateOf: (object) => {
    const parsed = scheduleShape.safeParse(object);
    const status = parsed.success ? parsed.data.status : {};
    const state = status.scheduleState ?? "";
    const isSuspended = parsed.success && parsed.data.spec.suspend === true;
    return {
      state: state === "" ? "NEW" : state,
      attempts: undefined,
      message: status.reason === "" ? undefined : status.reason,
      since: instantOf(status.lastRun) ?? instantOf(object.metadata.creationTimestamp),
      ended: undefined,
      what: outlookOf(state, status.nextRun ?? undefined, isSuspended),
    };
  },
  mainPod: (_, pods) =>
    pods
      .filter(isDriver)
      .toSorted((a, b) => (a.metadata.creationTimestamp ?? "").localeCompare(b.metadata.creationTimestamp ?? ""))
      .at(-1)?.metadata.name,
  wide: (object) => {
    const parsed = scheduleShape.safeParse(object);
    if (!parsed.success) return {};
    const { spec, status } = parsed.data;
    return {
      SCHEDULE: spec.schedule,
      SUSPEND: String(spec.suspend ?? ""),
      "LAST RUN": status.lastRun ?? "",
      "LAST RUN NAME": status.lastRunName ?? "",
      "NEXT RUN": status.nextRun ?? "",
    };
  },
  suspends: true,
};
