/** A CronJob before Rekindle runs it: why it would be refused. Pure. */
import type { KindForecast } from "../../kube/forecast.ts";
import { cronSaying } from "./refusal.ts";

export const cronJobForecast: KindForecast<unknown> = {
  created: ({ metadata, spec }) => {
    const saying = cronSaying(metadata.name ?? "generated", spec);
    return { refused: saying === "" ? undefined : saying, notes: [] };
  },
};
