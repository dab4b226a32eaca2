/** The operator of the kind ScheduledSparkApplication, which the registry loads for a process that decides its objects. */
import type { Operator } from "../../core/operator.ts";
import { type Settings, scheduledSparkApplication } from "./decide.ts";

export const scheduledSparkApplicationOperator = ({ settledMs }: Settings): Operator<unknown> =>
  scheduledSparkApplication({ settledMs });
