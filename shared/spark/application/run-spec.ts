/** What a run depends on: a spec that differs in it begins another run. */
import { digestOf, isTooMuch } from "../../core/json.ts";
import type { Stored } from "../../core/object.ts";
import { isRecord, type Json } from "../../kube/responses.ts";
import type { Memory } from "./memory.ts";

/** Two fields may change under a running application; what they hold must be what they are for, or the run waits for it. */
const free = ({ suspend, timeToLiveSeconds: left }: Json): Json => ({
  suspend: typeof suspend === "boolean" ? undefined : suspend,
  timeToLiveSeconds: Number.isSafeInteger(left) ? undefined : left,
});

/** How many executors, where it may change as well. */
const scalable = ({ executor }: Json): Json =>
  isRecord(executor) && Number.isSafeInteger(executor["instances"])
    ? { executor: { ...executor, instances: undefined } }
    : {};

/** True when Rekindle is the allocator of the newest run. */
export const isOwnRun = ({ allotment, attempt }: Pick<Memory, "allotment" | "attempt">): boolean =>
  allotment?.attempt === attempt;

/** The digest of what a run depends on; how many executors it has is none of it where Rekindle makes them. */
export const relevant = ({ spec }: Stored, own: boolean): string => {
  if (isTooMuch(spec)) return digestOf("too deep to be read");
  return isRecord(spec) ? digestOf({ ...spec, ...free(spec), ...(own ? scalable(spec) : {}) }) : digestOf(spec ?? null);
};
