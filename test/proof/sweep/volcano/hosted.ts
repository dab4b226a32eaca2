/** Lives of jobs whose steps are a host's: it goes by what it watches and by what it remembers of its own steps. */
import type { Scenario } from "../plot.ts";

/** Those in which most hangs on what was seen last. */
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
    }));
