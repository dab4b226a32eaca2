/** The kind CronJob as the command line and the page show it. */
import * as z from "zod";
import type { Obj } from "../../core/object.ts";
import { instantOf } from "../../core/time.ts";
import { type Advice, type KindInspection, quiet } from "../../kube/object-state.ts";

const cronShape = z.object({
  spec: z.object({ schedule: z.string().catch(""), suspend: z.boolean().optional().catch(undefined) }),
  status: z
    .object({
      active: z.array(z.object({ name: z.string() })).catch([]),
      lastScheduleTime: z.string().nullish(),
      lastSuccessfulTime: z.string().nullish(),
    })
    .catch({ active: [] }),
});

type Cron = z.infer<typeof cronShape>;

const cronOf = (object: Obj): Cron =>
  cronShape.safeParse(object).data ?? { spec: { schedule: "" }, status: { active: [] } };

const cronOutlook = ({ spec, status }: Cron): Advice => {
  if (spec.suspend === true)
    return { waitsFor: "spec.suspend to become false", todo: "rekindle resume it when it is to run again" };
  const [running] = status.active;
  return { waitsFor: running === undefined ? "its next time" : `${running.name} and its next time`, todo: quiet };
};

export const cronJobInspection: KindInspection = {
  // Pods are known by their jobs, whose names are made of times.
  podLabels: (name) => ({ "volcano.sh/cronjob": name }),
  stateOf: (object) => {
    const cron = cronOf(object);
    const going = cron.status.active.length > 0 ? "Active" : "Scheduled";
    return {
      state: cron.spec.suspend === true ? "Suspended" : going,
      attempts: undefined,
      message: undefined,
      since: instantOf(cron.status.lastScheduleTime) ?? instantOf(object.metadata.creationTimestamp),
      ended: undefined,
      what: cronOutlook(cron),
    };
  },
  mainPod: () => undefined,
  wide: (object) => {
    const { spec, status } = cronOf(object);
    return {
      SCHEDULE: spec.schedule,
      SUSPEND: `${spec.suspend ?? ""}`,
      ACTIVE: status.active.length,
      "LAST SCHEDULE": status.lastScheduleTime ?? "",
      "LAST SUCCESS": status.lastSuccessfulTime ?? "",
    };
  },
  suspends: true,
};
