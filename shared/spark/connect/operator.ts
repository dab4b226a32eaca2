/** The operator of the kind SparkConnect, which the registry loads for a process that decides its objects. */
import type { Operator } from "../../core/operator.ts";
import type { Settings } from "../application/run/context.ts";
import { sparkConnect } from "./decide.ts";

export const sparkConnectOperator = ({
  apiServer,
  options,
}: Pick<Settings, "apiServer" | "options">): Operator<unknown> =>
  sparkConnect({ apiServer, sparkDefaults: options.sparkDefaults, exposure: options });
