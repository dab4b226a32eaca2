/** Scenarios that are run without a watch, too: the bell alone sends the keys of their changes. */
import { ringFaults } from "./faults.ts";
import type { Scenario } from "./scenario.ts";

/** They show every way in which a change reaches a step: its object, its pods, its PodGroup, and what it has made itself. */
const names: ReadonlySet<string> = new Set([
  ...["completion", "retry", "deletion", "change", "suspension", "refusal", "loss", "schedule", "connect"],
  ...["job-restart-job", "job-restart-pod", "job-deletion", "flow-order", "cron-times", "queue-close-open"],
]);

const also = ringFaults.map(({ name }) => name);

/** No process holds queue or watch: none of them can die with a host, and there is no watch to break. */
const without = ["host-crash-before", "host-crash-after", "gap", "windowed"] as const;

/** Of the scenarios, those that the bell serves, too, under names of their own. */
export const belledOf = (scenarios: readonly Scenario[]): readonly Scenario[] =>
  scenarios
    .filter(({ name }) => names.has(name))
    .map((scenario): Scenario => {
      const { drawn: _, ...rest } = scenario;
      const what = `without a watch, by the bell: ${scenario.what}`;
      return { ...rest, name: `belled-${scenario.name}`, what, belled: true, breadth: "thin", also, without };
    });
