/** The kinds that run in a scenario. */
import type { Operator } from "../../shared/core/operator.ts";
import { timing } from "../../shared/engine/settings.ts";
import { defaultOptions } from "../../shared/spark/companions/options.ts";
import { operatorsFor } from "../../shared/wiring/operators.ts";
import type { Scenario } from "./plot.ts";

/** Queues are nobody's business where Volcano's scheduler is meant to be. */
export const operatorsOf = ({ gang }: Pick<Scenario, "gang">): readonly Operator<unknown>[] =>
  operatorsFor(timing, { ...defaultOptions, driverPdb: true }, gang === undefined ? "scheduler" : "auto").filter(
    ({ kind }) => kind !== "Queue" || gang !== undefined,
  );
