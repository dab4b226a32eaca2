/** The operator of the kind SparkApplication, which the registry loads for a process that decides its objects. */
import type { Operator } from "../../core/operator.ts";
import { sparkApplication } from "./decide.ts";
import type { Settings } from "./run/context.ts";

export const sparkApplicationOperator = (settings: Settings): Operator<unknown> => sparkApplication(settings);
