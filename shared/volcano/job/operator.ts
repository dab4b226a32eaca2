/** The operator of the kind Job, which the registry loads for a process that decides its objects. */
import type { Operator } from "../../core/operator.ts";
import { volcanoJob } from "./decide.ts";

export const jobOperator = (): Operator<unknown> => volcanoJob;
