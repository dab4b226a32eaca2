/** Lives whose steps are a host's: they use its watch and its memory of its own steps. */
import type { Scenario } from "./scenario.ts";

/** The scenarios of these names, by a host. */
export const hostedOf = (scenarios: readonly Scenario[], names: readonly string[]): readonly Scenario[] =>
  scenarios
    .filter(({ name }) => names.includes(name))
    .map((scenario) => ({
      ...scenario,
      name: `hosted-${scenario.name}`,
      what: `${scenario.what} (by a host that goes by what it watches)`,
      hosted: true,
      breadth: "sparse",
      without: [],
    }));
