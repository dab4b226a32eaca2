/** Jobs whose steps are a host's: they use its watch and its memory of its own steps. */
import type { Scenario } from "../scenario.ts";

/** Scenarios that depend most on the last observation. */
const told = [
  "job-completion",
  "job-scale-down",
  "job-restart-job",
  "job-restart-pod",
  "job-removed",
  "job-drained",
  "job-resized-at-once",
  "job-suspend-resume",
  "job-abort-restarting",
];

export const hostedOf = (scenarios: readonly Scenario[]): readonly Scenario[] =>
  scenarios
    .filter(({ name }) => told.includes(name))
    .map((scenario) => ({
      ...scenario,
      name: `hosted-${scenario.name}`,
      what: `${scenario.what} (by a host that goes by what it watches)`,
      hosted: true,
      breadth: "sparse",
      without: [],
    }));
