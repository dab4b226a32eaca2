/** A small cluster in which lives are led, one after the other: set back to its beginning for each. */
import { openSimulator } from "../../shared/simulator/open.ts";
import { identityOf } from "../sweep/ending.ts";
import { base, namespace, type Scenario } from "../sweep/plot.ts";
import { crds, type Takes, type Theatre } from "../sweep/theatre.ts";
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

/** A cluster before anybody comes. */
export type House = Pick<Theatre, "simulator" | "clusterUid" | "start"> & {
  readonly state: ReturnType<Theatre["simulator"]["snapshot"]>;
  readonly identities: ReadonlyMap<string, string>;
  audience: Theatre["audience"];
};

const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;

export const openHouse = (): House => {
  const simulator = openSimulator({ crds, nodes: nodes.map((name) => ({ name })) });
  const { store, clock } = simulator;
  simulator.handle({
    method: "POST",
    path: accounts,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "spark", namespace } }),
  });
  clock.advanceTo(clock.now() + 10_000);
  const identities = new Map<string, string>();
  for (const table of store.tables())
    for (const object of store.list(table)) identities.set(object.metadata.uid, identityOf(table, object));
  const house: House = {
    simulator,
    clusterUid: store.get("namespaces", "kube-system")?.metadata.uid ?? "",
    start: clock.now(),
    state: simulator.snapshot(),
    identities,
    audience: undefined,
  };
  simulator.subscribe((change) => house.audience?.(change));
  return house;
};

/** The cluster for one life, watched by whoever judges it. */
export const theatreFor = (house: House, { oracle }: Judging, takes: Takes | undefined): Theatre => {
  const { simulator, clusterUid, start, state, identities } = house;
  const theatre: Theatre = {
    scenario,
    simulator,
    clusterUid,
    start,
    ...(takes === undefined ? {} : { takes }),
    opening: {
      simulator: state,
      journal: [],
      oracle,
      count: { calls: 0, messages: 0, events: 0, invocations: 0 },
      nextSweep: start + 300_000,
      identities,
      met: new Set(),
      armed: [],
    },
    audience: undefined,
  };
  house.audience = (change) => theatre.audience?.(change);
  return theatre;
};
