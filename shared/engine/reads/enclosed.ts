/**
 * Begins a step with what the call of a dispatcher encloses: the object is not read, nor are the enclosed lists. The
 * record is loaded as always. Where the two do not fit, the step reads live.
 */
import type { Operator } from "../../core/operator.ts";
import { classify } from "../checkpoint/classify.ts";
import type { FirstRead, Observation } from "../context/observation.ts";
import type { StepContext } from "../context/step-context.ts";
import { answers, lookedAt } from "../enclosure.ts";
import type { Enclosure } from "../ports.ts";
import { recoveryOf } from "../settings.ts";
import { seemsNew } from "./assumed-new.ts";

type Call = Pick<StepContext, "world" | "message" | "operator">;

/** True if the enclosure is about the key, and its lists are answers to the lists that the operator `encloses`. */
const isAbout = (
  message: Call["message"],
  { resource, encloses }: Operator<unknown>,
  { object, lists }: Enclosure,
): boolean => {
  const { namespace, name } = message;
  const asked = encloses?.(message);
  return (
    asked !== undefined &&
    asked.length === lists.length &&
    answers({ do: "list", resource, namespace, labels: {} }, object) &&
    object.metadata.name === name &&
    asked.every((listing, at) => lists[at]?.every((one) => answers(listing, one)) === true)
  );
};

/** Returns the enclosure of a step that may begin with it; undefined: it must read live. */
const enclosureFor = ({ world, message, operator }: Call): Enclosure | undefined => {
  if (message.tries !== undefined || world.shadow !== undefined) return undefined;
  const enclosure = world.enclosed?.(message);
  return enclosure !== undefined && isAbout(message, operator, enclosure) ? enclosure : undefined;
};

/** Returns the observation of a step that begins with its enclosure; undefined: it must read live. */
export const readEnclosed = async (call: Call): Promise<FirstRead | undefined> => {
  const { world, message, operator } = call;
  const enclosure = enclosureFor(call);
  if (enclosure === undefined) return undefined;
  const at = lookedAt(enclosure, world.serverTime?.(), world.clock.monotonic());
  const { object, date: now } = enclosure;
  if (at === undefined || object.metadata.deletionTimestamp !== undefined) return undefined;
  const { uid } = object.metadata;
  const common = { object, successor: false, uid, now, returning: undefined, cachedAt: { date: now, at }, enclosure };
  const see = (rest: Pick<Observation, "record" | "version" | "memory" | "assumedNew">): FirstRead => ({
    see: "observation",
    observation: { ...common, ...rest },
  });
  if (message.fresh === true && seemsNew(object))
    return see({ record: undefined, version: undefined, memory: undefined, assumedNew: true });
  const loaded = await world.checkpoints.load(message);
  if (loaded === undefined) return undefined;
  const { clusterUid, timing } = world;
  const diagnosis = classify({ key: message, operator, settings: recoveryOf(world), clusterUid, timing }, loaded);
  if (diagnosis.is !== "well") return undefined;
  const { record, memory } = diagnosis;
  const isCurrent = record.uid === uid && (object.metadata.generation ?? 0) >= (record.generation ?? 0);
  // A recovery window is about objects that may still appear: only live reads show them.
  if (!isCurrent || record.returning !== undefined || record.cleanup !== undefined) return undefined;
  return see({ record, version: loaded.version, memory, assumedNew: false });
};
