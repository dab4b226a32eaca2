/**
 * Compares the settings of a record with those of the deployment. The policies are those of a Mesos agent's
 * `reconfiguration_policy`: `equal`, or `additive`, under which settings may be added and grow.
 */
import { same } from "../../core/json.ts";
import type { Made } from "../ports.ts";
import type { RecoverySettings, Timing } from "../settings.ts";

/** Returns the settings that later steps rely on: they limit how late a write of this deployment can arrive. */
export const madeWith = ({ fenceMs, requestTimeoutMs }: Timing): Made => ({ fenceMs, requestTimeoutMs });

type Value = Made[string] | undefined;

/** True if the value may change so under `additive`. A value that only one of the two has passes. */
const grows = (was: Value, is: Value): boolean => {
  if (typeof was === "number" && typeof is === "number") return is >= was;
  if (typeof was === "boolean" && typeof is === "boolean") return is || !was;
  if (Array.isArray(was) && Array.isArray(is)) return was.every((one) => is.includes(one));
  return was === undefined || is === undefined || same(was, is);
};

/** Maps a policy to the test whether a value may change to another. */
const permits: Readonly<Record<RecoverySettings["policy"], (was: Value, is: Value) => boolean>> = {
  any: () => true,
  equal: same,
  additive: grows,
};

/**
 * Returns a text about the first setting, by name, that the policy does not permit; undefined if there is none. A
 * record without settings was saved before records held any, and passes.
 */
export const incompatibility = (
  policy: RecoverySettings["policy"],
  was: Made | undefined,
  is: Made,
): string | undefined => {
  if (was === undefined) return undefined;
  const names = [...new Set([...Object.keys(was), ...Object.keys(is)])].sort();
  const name = names.find((one) => !permits[policy](was[one], is[one]));
  if (name === undefined) return undefined;
  const textOfValue = (value: Value): string => (value === undefined ? "nothing" : JSON.stringify(value));
  return `made with ${name} ${textOfValue(was[name])}, and this deployment has ${textOfValue(is[name])}, which policy ${policy} does not permit`;
};
