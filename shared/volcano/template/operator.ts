/** The operator of the kind JobTemplate, which the registry loads for a process that decides its objects. */
import type { Operator } from "../../core/operator.ts";
import { volcanoJobTemplate } from "./decide.ts";

export const jobTemplateOperator = (): Operator<unknown> => volcanoJobTemplate;
