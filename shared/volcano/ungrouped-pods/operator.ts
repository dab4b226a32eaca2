/** The operator of the kind Pod, which the registry loads for a process that decides its objects. */
import type { Operator } from "../../core/operator.ts";
import { volcanoPod } from "./decide.ts";

export const podOperator = (): Operator<unknown> => volcanoPod;
