/** The part of a spec that a run depends on: a change of it begins another run. */
import { digestOf, isTooMuch } from "../../../core/json.ts";
import type { Stored } from "../../../core/object.ts";
import { isRecord, type Json } from "../../../kube/responses.ts";
import type { Memory } from "./memory.ts";

/** Blanks the two fields that may change under a running application; a value of a wrong type stays. */
const free = ({ suspend, timeToLiveSeconds: left }: Json): Json => ({
  suspend: typeof suspend === "boolean" ? undefined : suspend,
  timeToLiveSeconds: Number.isSafeInteger(left) ? undefined : left,
});

/** Blanks the number of executors. */
const scalable = ({ executor }: Json): Json =>
  isRecord(executor) && Number.isSafeInteger(executor["instances"])
    ? { executor: { ...executor, instances: undefined } }
    : {};

/** True when Rekindle is the allocator of the newest run. */
export const isOwnRun = ({ allotment, attempt }: Pick<Memory, "allotment" | "attempt">): boolean =>
  allotment?.attempt === attempt;

/** The digest of the spec that a run depends on. In an own run the number of executors is no part of it. */
export const relevant = ({ spec }: Stored, own: boolean): string => {
  if (isTooMuch(spec)) return digestOf("too deep to be read");
  return isRecord(spec) ? digestOf({ ...spec, ...free(spec), ...(own ? scalable(spec) : {}) }) : digestOf(spec ?? null);
};
