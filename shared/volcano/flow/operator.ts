/** The operator of the kind JobFlow, which the registry loads for a process that decides its objects. */
import type { Operator } from "../../core/operator.ts";
import { volcanoJobFlow } from "./decide.ts";

export const jobFlowOperator = ({ settledMs }: { readonly settledMs: number }): Operator<unknown> =>
  volcanoJobFlow({ settledMs });
