/** The operator of the kind CronJob, which the registry loads for a process that decides its objects. */
import type { Operator } from "../../core/operator.ts";
import { volcanoCronJob } from "./decide.ts";

export const cronJobOperator = ({ settledMs }: { readonly settledMs: number }): Operator<unknown> =>
  volcanoCronJob({ settledMs });
