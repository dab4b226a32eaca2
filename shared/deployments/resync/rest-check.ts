/**
 * The objects that need no step when a process lists them for the first time: ended ones, and their ended pods, beside a
 * record at rest. A cluster keeps many of them, and each step would read record, object and pods to find nothing to
 * do. The rule is that of a resync. A change after the list is an event of the watch, whatever the records say.
 */
import { kindSelector } from "../../adapters/checkpoints/kubernetes.ts";
import type { Key } from "../../core/key.ts";
import { marksOf } from "../../core/marks.ts";
import type { Stored } from "../../core/object.ts";
import type { Watcher } from "../../core/operator.ts";
import type { Report } from "../../engine/ports.ts";
import type { Loop } from "../../forward/forwarder.ts";
import type { RestCheck } from "../../forward/listwatch.ts";
import { openBreather } from "../../forward/pause.ts";
import { type Hint, place, reasonFor } from "../../forward/resync.ts";
import { isEnding, isOver, ownedBy, podStatus } from "../../kube/pods.ts";
import { pods } from "../../kube/resources.ts";
import { hintsIn, type ResyncScope } from "./sweep.ts";

type Settings = Pick<ResyncScope, "transport" | "hints"> & {
  readonly operators: readonly Watcher[];
  readonly report: Report;
  /** Epoch ms. */
  readonly now: () => number;
};

/** Hints of the records at rest, by the place of their keys. */
type Resting = ReadonlyMap<string, Hint>;

const isEnded = (pod: Stored): boolean => isOver(podStatus(pod)) && !isEnding(pod);

/** Reads the records at rest of a kind. Without them, every object causes a step. */
const readResting = async (
  { transport, hints, report, now }: Settings,
  kind: string,
  namespace: string | undefined,
): Promise<Resting> => {
  const where = { transport, hints, namespaces: namespace === undefined ? [] : [namespace] };
  const resting = new Map<string, Hint>();
  const breathe = openBreather(now);
  try {
    for (const hint of await hintsIn(where, undefined, kindSelector(kind))) {
      await breathe();
      if (hint.rests && hint.kind === kind) resting.set(place(hint.namespace, hint.name), hint);
    }
  } catch (cause) {
    report("debug", "cannot read which objects have nothing left to do, so each gets a step", {
      kind,
      error: String(cause),
    });
  }
  return resting;
};

/** Opens the check of first lists. Loops that begin at the same time share one read of a kind's records. */
export const restingIn = (settings: Settings): ((loop: Loop) => Promise<RestCheck>) => {
  const reading = new Map<string, Promise<Resting>>();
  const read = async (kind: string, namespace: string | undefined): Promise<Resting> => {
    const id = place(namespace, kind);
    const found = reading.get(id) ?? readResting(settings, kind, namespace).finally(() => reading.delete(id));
    reading.set(id, found);
    return await found;
  };
  return async ({ subject: { resource, interests }, namespace }) => {
    const kinds = new Set(interests.map(({ kind }) => kind));
    const ending = settings.operators.filter(
      ({ kind, resource: own, hasEnded }) =>
        hasEnded !== undefined && kinds.has(kind) && [own.plural, pods.plural].includes(resource.plural),
    );
    const found = await Promise.all(ending.map(async (one) => [one, await read(one.kind, namespace)] as const));
    return (object: Stored, key: Key): boolean => {
      const [operator, records] = found.find(([{ kind }]) => kind === key.kind) ?? [];
      const hint = records?.get(place(key.namespace, key.name));
      if (hint === undefined) return false;
      if (resource.plural === pods.plural) return isEnded(object) && ownedBy(object, hint.uid);
      const marks = hint.marks === undefined ? "" : marksOf(object.metadata);
      const reason = reasonFor({ ...object.metadata, marks }, hint, { now: settings.now() });
      return reason === undefined && operator?.hasEnded?.(object) === true;
    };
  };
};
