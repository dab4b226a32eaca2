/** ScheduledSparkApplication on the command line: when it ran, when it runs next. */
import * as z from "zod";
import { instantOf } from "../../core/time.ts";
import { type Kind, type Outlook, quiet, unseen } from "./kind.ts";
import { isDriver } from "./spark.ts";

const shape = z.object({
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

const label = "sparkoperator.k8s.io/scheduled-app-name";

const outlookOf = (state: string, next: string | undefined, isSuspended: boolean): Outlook => {
  if (isSuspended)
    return { waitsFor: "spec.suspend to become false", todo: "rekindle resume it when it is to run again" };
  if (state === "") return unseen;
  if (state === "FailedValidation")
    return { waitsFor: "its spec to be corrected", todo: "correct what the message names" };
  return { waitsFor: next === undefined ? "its next run" : `its next run at ${next}`, todo: quiet };
};

export const scheduledSparkApplication: Kind = {
  resource: {
    group: "sparkoperator.k8s.io",
    version: "v1beta2",
    plural: "scheduledsparkapplications",
    kind: "ScheduledSparkApplication",
  },
  shortNames: ["scheduledsparkapp"],
  podLabels: (name) => ({ [label]: name }),
  stateOf: (object) => {
    const parsed = shape.safeParse(object);
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
    const parsed = shape.safeParse(object);
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
