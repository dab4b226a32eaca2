/** The operator of the kind SparkCluster, which the registry loads for a process that decides its objects. */
import type { Operator } from "../../core/operator.ts";
import type { Settings } from "../application/run/context.ts";
import { sparkClusterOf } from "./decide.ts";

export const sparkClusterOperator = ({ options }: Pick<Settings, "options">): Operator<unknown> =>
  sparkClusterOf({ operatorName: options.apacheOperatorName });
