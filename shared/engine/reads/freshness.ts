/**
 * The queries of a step's decisions, and whether their plan may be carried out on the answers. Sources answer before the
 * server does: the step's own creations, what a call encloses, what the process watches. The last two may be behind, so a
 * plan that rests on them, or on an object that was not read live, is carried out only if the table here says so; any
 * other plan is decided again on live reads.
 *
 * | plan | on watched answers |
 * |---|---|
 * | changes nothing | right: a later change is an event |
 * | creates, records an Event | right: names are deterministic, and the save before it finds an outdated record |
 * | patches | right: the server refuses a patch of an object that has changed since |
 * | deletes a pod that has ended | right: it names the UID, and an ended pod never runs again |
 * | deletes, by its UID alone, what is no pod | right: the record says that it is over, and the save finds an outdated record |
 * | deletes anything else, evicts, keeps a log | decided again |
 * | forgets the record; is marked `live` | decided again |
 */
import { fieldsOf, same } from "../../core/json.ts";
import { refText, type Stored } from "../../core/object.ts";
import type { Effect, Looking, Plan } from "../../core/plan.ts";
import { idOf, type Source, type StepReads, stepReads } from "../cluster/queries.ts";
import type { StepContext } from "../context/world.ts";

/** Answers a get of an object that this step has created, as the server answered its creation. */
const createdSource =
  ({ created }: StepContext): Source =>
  (query) => {
    const object = query.do === "get" ? created?.get(refText(query.ref)) : undefined;
    return object === undefined ? undefined : { value: [object], freshness: "live" };
  };

const watchedBy = ({ operator, message, observation }: StepContext): readonly Looking[] =>
  operator.watched?.(message, observation) ?? [];

/** Answers those lists of the step's call that the kind lets a watch answer. */
const enclosedSource = (run: StepContext): Source => {
  const { message, operator, observation } = run;
  const { lists = [] } = observation.enclosure ?? {};
  const enclosed = new Map(operator.encloses?.(message).map((listing, at) => [idOf(listing), lists[at]]));
  const ids = new Set(watchedBy(run).map(idOf));
  return (query) => {
    const value = ids.has(idOf(query)) ? enclosed.get(idOf(query)) : undefined;
    return value === undefined ? undefined : { value, freshness: "watched" };
  };
};

/** True if the query looks at a part of what the first list finds, or at one object that may be in it. */
const isWithin = (query: Looking, first: Looking): boolean => {
  const { resource, namespace } = query.do === "list" ? query : query.ref;
  if (first.do !== "list" || !same(resource, first.resource) || namespace !== first.namespace) return false;
  const labels = Object.entries(first.labels);
  return (
    query.do === "get" || (query.field === undefined && labels.every(([name, value]) => query.labels[name] === value))
  );
};

const pod = "Pod";

const hasEnded = ({ kind, status }: Stored): boolean =>
  kind === pod && ["Succeeded", "Failed"].some((phase) => phase === fieldsOf(status)["phase"]);

/**
 * Answers what the kind lets its watch answer. A second look, at a part of a watched list or at one of its pods, is
 * answered only if the watch is not behind what the record rests on; of a pod only its end, which is final.
 */
const watchSource = (run: StepContext): Source => {
  const { world, message } = run;
  const watched = watchedBy(run);
  const ids = new Set(watched.map(idOf));
  const look = (query: Looking): readonly Stored[] | undefined => {
    if (ids.has(idOf(query))) return world.cache?.look(message, query);
    if (!watched.some((first) => isWithin(query, first))) return undefined;
    const found = world.cache?.look(message, query, "current");
    return query.do === "list" || found?.every(hasEnded) === true ? found : undefined;
  };
  return (query) => {
    const value = look(query);
    return value === undefined ? undefined : { value, freshness: "watched" };
  };
};

/** Returns the reads of a step's decisions: live, except for those that a source answers. */
export const readsOf = (run: StepContext): StepReads => {
  const { enclosure, fromCache } = run.observation;
  const watched = enclosure === undefined ? (fromCache === true ? [watchSource(run)] : []) : [enclosedSource(run)];
  return stepReads(run.world.cluster, [createdSource(run), ...watched]);
};

/** The reads of the step's decisions, and the memory from which the last one has decided. */
type Basis = { readonly reads: StepReads; readonly memory: unknown };

/** True if nothing would be written. */
const changesNothing = (object: Stored | undefined, { memory }: Basis, plan: Plan<unknown>): boolean =>
  plan.stages.length === 0 &&
  plan.next.do !== "forget" &&
  same(plan.memory, memory) &&
  (plan.status === undefined || same(plan.status, object?.status));

/** Effects that are right whatever has happened since the objects were shown. */
const lasting: ReadonlySet<Effect["do"]> = new Set(["create", "record", "patch"]);

const isLasting = (effect: Effect, shown: readonly Stored[]): boolean => {
  if (effect.do !== "delete") return lasting.has(effect.do);
  const { ref, uid, resourceVersion } = effect;
  if (ref.resource.kind !== pod) return resourceVersion === undefined;
  return shown.some((object) => object.metadata.uid === uid && hasEnded(object));
};

/** True if a plan is right although a watch, which may be behind, has shown what it rests on. */
export const isRightOnWatched = (
  { safety, next, stages }: Plan<unknown>,
  { watched }: StepContext["operator"],
  shown: readonly Stored[] = [],
): boolean =>
  watched !== undefined &&
  safety?.live !== true &&
  next.do !== "forget" &&
  stages.flat().every((effect) => isLasting(effect, shown));

/** True if a plan may be carried out on what it rests on; false: it is decided again on live reads. */
export const isRightOn = (
  { operator, observation: { cachedAt, object } }: StepContext,
  basis: Basis,
  plan: Plan<unknown>,
): boolean => {
  const shown = basis.reads.watched();
  if (shown === undefined && cachedAt === undefined) return true;
  return isRightOnWatched(plan, operator, shown) || changesNothing(object, basis, plan);
};
