/** The small cluster of a soak, reset to its beginning for each life. */
import { openSimulator } from "../../../shared/simulator/open.ts";
import {
  account,
  crds,
  type Fixture,
  fixtureIn,
  type InitialCluster,
  initialClusterOf,
  post,
  type Takes,
} from "../sweep/fixture.ts";
import { base, type Scenario } from "../sweep/scenario.ts";
import type { Judging } from "./census.ts";
import { nodes } from "./life.ts";

/** An empty scenario: the life's deeds are drawn, not staged. */
const scenario: Scenario = {
  name: "soak",
  what: "what a seed brings",
  spec: base,
  scripts: {},
  userActions: [],
  ends: "",
  breadth: "thin",
};

export const openInitialCluster = (): InitialCluster => {
  const simulator = openSimulator({ crds, nodes: nodes.map((name) => ({ name })) });
  post(simulator, ...account);
  return initialClusterOf(simulator);
};

/** Opens the cluster for one life; the oracle of `judging` watches it. */
export const fixtureFor = (initialCluster: InitialCluster, { oracle }: Judging, takes: Takes | undefined): Fixture =>
  fixtureIn(initialCluster, { scenario, oracle, armed: [], ...(takes === undefined ? {} : { takes }) });
