/** From what was seen at first to what a step goes on with: the one place where a recovery begins. */
import type { Observed, Sight } from "../observe.ts";
import type { Ending, Labels } from "../world.ts";
import { stoppedBy } from "./cleanup.ts";
import { type Case, givenUp, recover } from "./recover.ts";
import { begin } from "./start.ts";

type Seen = Exclude<Observed, { see: "nothing" }>;

/** A record that is ill is recovered first, and whoever asks for a recovery gets one. */
const treated = async (call: Case, observed: Seen): Promise<Sight | Ending> => {
  const { ask } = call.world;
  if (observed.see === "ill") {
    const mended = await recover(call, observed.patient);
    return "did" in mended || ask?.mode !== "cleanup" ? mended : await begin({ ...call, sight: mended }, ask);
  }
  const { sight } = observed;
  if (ask === undefined) return sight;
  return ask.fresh ? await recover(call, givenUp(sight)) : await begin({ ...call, sight }, ask);
};

/** What is decided on, or how the step ends without a decision. */
export const ready = async (call: Case, observed: Seen): Promise<Sight | Ending> => {
  const sight = await treated(call, observed);
  if ("did" in sight) return sight;
  const why = stoppedBy(call.operator, sight.record, sight.object?.metadata.generation);
  return why === undefined ? sight : { did: "stopped", why };
};

/** Labels of what is seen; of what is gone, those that it had. */
export const labelsOf = (observed: Seen): Labels => {
  const [object, record] =
    observed.see === "ill"
      ? [observed.patient.object, observed.patient.ill.rest]
      : [observed.sight.object, observed.sight.record];
  return (object === undefined ? record?.labels : object.metadata.labels) ?? {};
};
