/** From what was seen at first to what a step goes on with: the one place where a recovery begins. */
import type { FirstRead, Observation } from "../observation.ts";
import type { Ending, Labels } from "../world.ts";
import { stoppedBy } from "./cleanup.ts";
import { type Case, givenUp, recover } from "./recover.ts";
import { begin } from "./start.ts";

type Seen = Exclude<FirstRead, { see: "nothing" }>;

/** A record that is ill is recovered first, and whoever asks for a recovery gets one. */
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

/** What is decided on, or how the step ends without a decision. */
export const ready = async (call: Case, observed: Seen): Promise<Observation | Ending> => {
  const observation = await treated(call, observed);
  if ("did" in observation) return observation;
  const why = stoppedBy(call.operator, observation.record, observation.object?.metadata.generation);
  return why === undefined ? observation : { did: "stopped", why };
};

/** Labels of what is seen; of what is gone, those that it had. */
export const labelsOf = (observed: Seen): Labels => {
  const [object, record] =
    observed.see === "ill"
      ? [observed.brokenRecord.object, observed.brokenRecord.ill.rest]
      : [observed.observation.object, observed.observation.record];
  return (object === undefined ? record?.labels : object.metadata.labels) ?? {};
};
