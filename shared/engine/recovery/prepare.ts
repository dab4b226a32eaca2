/** Prepares the observation of a step from its first read: the one place where a recovery begins. */
import type { FirstRead, Observation } from "../context/observation.ts";
import type { Ending, Labels } from "../context/world.ts";
import { stoppedBy } from "./cleanup.ts";
import { type Case, givenUp, recover } from "./recover.ts";
import { begin } from "./start.ts";

type Seen = Exclude<FirstRead, { see: "nothing" }>;

/** Recovers a broken record, and carries out a recovery that a user asks for. */
const treated = async (call: Case, observed: Seen): Promise<Observation | Ending> => {
  const { ask } = call.world;
  if (observed.see === "ill") {
    const mended = await recover(call, observed.brokenRecord);
    return "did" in mended || ask?.mode !== "cleanup" ? mended : await begin({ ...call, observation: mended }, ask);
  }
  const { observation } = observed;
  if (ask === undefined) return observation;
  return ask.fresh ? await recover(call, givenUp(observation)) : await begin({ ...call, observation }, ask);
};

/** Returns the observation to decide on, or the end of a step that decides nothing. */
export const ready = async (call: Case, observed: Seen): Promise<Observation | Ending> => {
  const observation = await treated(call, observed);
  if ("did" in observation) return observation;
  const why = stoppedBy(call.operator, observation.record, observation.object?.metadata.generation);
  return why === undefined ? observation : { did: "stopped", why };
};

/** Returns the labels of the object; if it is gone, those in its record. */
export const labelsOf = (observed: Seen): Labels => {
  const [object, record] =
    observed.see === "ill"
      ? [observed.brokenRecord.object, observed.brokenRecord.ill.rest]
      : [observed.observation.object, observed.observation.record];
  return (object === undefined ? record?.labels : object.metadata.labels) ?? {};
};
