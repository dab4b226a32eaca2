/**
 * Whether a record may be gone on with under other settings than it was made with. As a Mesos agent's
 * `reconfiguration_policy`: `equal`, or `additive`, under which settings may be added and grow.
 */
import { same } from "../../core/json.ts";
import type { Made } from "../ports.ts";
import type { RecoverySettings, Timing } from "../settings.ts";

/** What matters to whoever goes on with a record: how late a write that somebody else planned may still arrive. */
export const madeWith = ({ fenceMs, requestTimeoutMs }: Timing): Made => ({ fenceMs, requestTimeoutMs });

type Value = Made[string] | undefined;

/** Of what one of the two does not know, nothing can be said. */
const grows = (was: Value, is: Value): boolean => {
  if (typeof was === "number" && typeof is === "number") return is >= was;
  if (typeof was === "boolean" && typeof is === "boolean") return is || !was;
  if (Array.isArray(was) && Array.isArray(is)) return was.every((one) => is.includes(one));
  return was === undefined || is === undefined || same(was, is);
};

/** policy → whether a field may go from one value to another. */
const permits: Readonly<Record<RecoverySettings["policy"], (was: Value, is: Value) => boolean>> = {
  any: () => true,
  equal: same,
  additive: grows,
};

/** The first field, by name, that stands in the way; undefined when none does. A record without settings is from before there were any. */
export const incompatibility = (
  policy: RecoverySettings["policy"],
  was: Made | undefined,
  is: Made,
): string | undefined => {
  if (was === undefined) return undefined;
  const names = [...new Set([...Object.keys(was), ...Object.keys(is)])].sort();
  const name = names.find((one) => !permits[policy](was[one], is[one]));
  if (name === undefined) return undefined;
  const told = (value: Value): string => (value === undefined ? "nothing" : JSON.stringify(value));
  return `made with ${name} ${told(was[name])}, and this deployment has ${told(is[name])}, which policy ${policy} does not permit`;
};
