/**
 * Decides whether a step goes on with the record that it read. The recovery of a broken record, and one that a user
 * asks for, are rare: their code is loaded when they are needed.
 */
import type { Ending, FirstRead, Labels, Observation, StepContext } from "../context/world.ts";
import { stoppedBy } from "./cleanup-order.ts";

type Seen = Exclude<FirstRead, { see: "nothing" }>;
type Case = Omit<StepContext, "observation">;

const usable = async (call: Case, observed: Seen): Promise<Observation | Ending> => {
  if (observed.see === "observation" && call.world.ask === undefined) return observed.observation;
  const { recoveredRecord } = await import("./recover.ts");
  return await recoveredRecord(call, observed);
};

/** Returns the observation to decide on, or the end of a step that decides nothing. */
export const ready = async (call: Case, observed: Seen): Promise<Observation | Ending> => {
  const observation = await usable(call, observed);
  if ("did" in observation) return observation;
  const why = stoppedBy(call.operator, observation.record, observation.object?.metadata.generation);
  return why === undefined ? observation : { did: "stopped", why };
};

/** Returns the labels of the object; if it is gone, those in its record. */
export const labelsOf = (observed: Seen): Labels => {
  const [object, record] =
    observed.see === "broken"
      ? [observed.brokenRecord.object, observed.brokenRecord.defect.rest]
      : [observed.observation.object, observed.observation.record];
  return (object === undefined ? record?.labels : object.metadata.labels) ?? {};
};
