/** The kinds that run in a scenario. */
import type { Operator } from "../../../shared/core/operator.ts";
import { operatorsFor } from "../../../shared/deployments/common/operators.ts";
import { timing } from "../../../shared/engine/settings.ts";
import { defaultOptions } from "../../../shared/spark/auxiliary-objects/options.ts";
import type { Scenario } from "./scenario.ts";

/** Queues have no operator where Volcano's scheduler is meant to run, unless the scenario is about one. */
export const operatorsOf = ({
  gang,
  gangEvict,
  keepsLogs,
  kind: about,
}: Pick<Scenario, "gang" | "gangEvict" | "keepsLogs" | "kind">): readonly Operator<unknown>[] =>
  operatorsFor(
    timing,
    { ...defaultOptions, driverPdb: true, keepLogsMs: keepsLogs ? 365 * 86_400_000 : 0 },
    {
      gang: gang === undefined ? "scheduler" : gang === "here" ? "auto" : gang,
      ...(gangEvict === undefined ? {} : { gangEvict }),
    },
  ).filter(({ kind }) => kind !== "Queue" || gang !== undefined || about === "Queue");
