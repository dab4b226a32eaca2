/** A small cluster in which lives are led, one after the other: set back to its beginning for each. */
import { openSimulator } from "../../../shared/simulator/open.ts";
import { base, type Scenario } from "../sweep/plot.ts";
import { account, crds, type House, houseOf, post, type Takes, type Theatre, theatreIn } from "../sweep/theatre.ts";
import type { Judging } from "./census.ts";
import { nodes } from "./life.ts";

/** Nothing is staged: what happens is drawn. */
const scenario: Scenario = {
  name: "soak",
  what: "what a seed brings",
  spec: base,
  scripts: {},
  acts: [],
  ends: "",
  breadth: "thin",
};

export const openHouse = (): House => {
  const simulator = openSimulator({ crds, nodes: nodes.map((name) => ({ name })) });
  post(simulator, ...account);
  return houseOf(simulator);
};

/** The cluster for one life, watched by whoever judges it. */
export const theatreFor = (house: House, { oracle }: Judging, takes: Takes | undefined): Theatre =>
  theatreIn(house, { scenario, oracle, armed: [], ...(takes === undefined ? {} : { takes }) });
