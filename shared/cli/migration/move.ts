/**
 * `rekindle migrate NAME --to GROUP --apply`: moves a running application into the other API of SparkApplications, with its
 * driver. Each write may be the last one of a run that dies: the same command continues from what it finds.
 *
 * M1. No controller acts on either object meanwhile: the old one is paused before anything else, and the new one is created
 *     paused, and resumed last.
 * M2. The new object has a status before it is resumed, so that its controller adopts the driver and makes no other.
 * M3. Everything of the run has the new owner before the old object is deleted, and that deletion orphans what is left.
 */
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { createObject, mergeObject } from "../../adapters/kubernetes/requests.ts";
import { pausedAnnotation } from "../../core/annotation.ts";
import { ApiError } from "../../core/http.ts";
import { fieldsOf } from "../../core/json.ts";
import { keyKindOf, type OwnerReference, type Resource, refTo, type Stored } from "../../core/object.ts";
import { Refused } from "../../inspection/io/refusal.ts";
import type { Session } from "../../inspection/io/session.ts";
import { type Direction, movedFrom, movingTo } from "../../kube/api-move.ts";
import { ownedBy } from "../../kube/pods.ts";
import { pods } from "../../kube/resources.ts";
import type { Tools } from "../io/tools.ts";
import {
  type Belonging,
  belongingsOf,
  type Found,
  findDrivers,
  isBegun,
  type Judged,
  judgeMove,
  placeText,
} from "./move-state.ts";

export type MoveContext = { readonly session: Session; readonly tools: Pick<Tools, "print" | "sleep" | "carryRecord"> };

/** Longest time of a step and of its last request, ms: no step that began before a pause writes after it. */
export const quietMs = 25_000;

type Marks = Readonly<Record<string, string | null>>;

const annotate = ({ session }: MoveContext, resource: Resource, object: Stored, annotations: Marks): Promise<Stored> =>
  mergeObject(
    session.transport,
    { ref: refTo(resource, object) },
    { metadata: { uid: object.metadata.uid, annotations } },
  );

/** M1: pauses the old object. */
export const holdSource = async (context: MoveContext, { source, direction }: Found): Promise<void> => {
  if (source === undefined || source.metadata.annotations?.[movingTo] !== undefined) return;
  await annotate(context, direction.from, source, { [pausedAnnotation]: "true", [movingTo]: direction.to.group });
};

const releaseSource = async (context: MoveContext, { source, direction }: Found): Promise<void> => {
  if (source !== undefined)
    await annotate(context, direction.from, source, { [pausedAnnotation]: null, [movingTo]: null });
};

/** Creates the new object, paused. */
const createTarget = async ({ session }: MoveContext, { source, direction }: Found, { object }: Judged) => {
  if (object === undefined || source === undefined) throw new Refused("it cannot be written in the other API");
  const { annotations = {}, ...metadata } = object.metadata;
  const marks = { [pausedAnnotation]: "true", [movedFrom]: source.metadata.uid };
  const whole = { ...object, metadata: { ...metadata, annotations: { ...annotations, ...marks } } };
  return await createObject(session.transport, direction.to, whole);
};

const hasStatus = ({ status }: Stored): boolean => Object.keys(fieldsOf(status)).length > 0;

/** M2: the status from which its controller continues. */
const withStatus = async (
  { session }: MoveContext,
  { direction, source }: Found,
  target: Stored,
  driver: Stored | undefined,
): Promise<Stored> => {
  if (source === undefined || driver === undefined || hasStatus(target)) return target;
  const { resourceVersion } = target.metadata;
  const change = { metadata: { resourceVersion }, status: direction.statusOf(source, driver) };
  return await mergeObject(session.transport, { ref: refTo(direction.to, target), subresource: "status" }, change);
};

/** The owners with the new one in the place of the old one. An object has one controller at most. */
const ownersAfter = (object: Stored, before: string, owner: OwnerReference): readonly OwnerReference[] => {
  const others = (object.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== before && uid !== owner.uid);
  const { controller: _, ...plain } = owner;
  return [...others, others.some(({ controller }) => controller === true) ? plain : owner];
};

type Handed = { readonly from: string; readonly target: Stored; readonly driver: Stored };

/**
 * M3: gives one object to the new owner; one that is gone meanwhile needs none. An executor that only its driver owns keeps its
 * owner. The UID is the fence: the kubelet writes the status of pods all the time.
 */
const handOver = async (
  { session: { transport } }: MoveContext,
  direction: Direction,
  { resource, object }: Belonging,
  { from, target, driver }: Handed,
): Promise<void> => {
  const { uid, ownerReferences = [] } = object.metadata;
  const owners = ownedBy(object, from) ? ownersAfter(object, from, direction.ownerOf(target)) : ownerReferences;
  const metadata = { uid, labels: direction.labelsOf(target, driver), ownerReferences: owners };
  const ref = refTo(resource, object);
  try {
    await mergeObject(transport, { ref }, { metadata });
  } catch (cause) {
    if (!(cause instanceof ApiError) || cause.status !== 404) throw cause;
  }
};

/** Past runs, undelivered updates and kept logs go on. Without its checkpoint, the deletion of the old object ends no pod. */
const moveRecord = ({ session, tools }: MoveContext, { direction, namespace, name }: Found, uid: string) => {
  const keyIn = (resource: Resource) => ({ kind: keyKindOf(resource), namespace, name });
  return tools.carryRecord(session, keyIn(direction.from), keyIn(direction.to), uid);
};

/** Deletes the old object and nothing else: its finalizer would make upstream's operator delete the driver. */
const deleteSource = async ({ session: { transport } }: MoveContext, { source, direction }: Found): Promise<void> => {
  if (source === undefined) return;
  const ref = refTo(direction.from, source);
  const { uid, resourceVersion, finalizers = [] } = source.metadata;
  const others = finalizers.filter((one) => one !== direction.finalizer);
  if (others.length < finalizers.length)
    await mergeObject(transport, { ref }, { metadata: { resourceVersion, finalizers: others } });
  await openCluster(transport).remove(ref, { uid, orphans: true });
};

/** The driver of the run, whichever object owns it. */
const driverOf = async ({ session }: MoveContext, { namespace }: Found, uids: readonly string[]) => {
  for (const uid of uids) {
    const [driver] = await findDrivers(session, namespace, uid);
    if (driver !== undefined) return driver;
  }
  return undefined;
};

/** Gives up a move whose driver ended before the new object had a status: the old object's controller sees the end. */
const giveUp = async (context: MoveContext, found: Found, target: Stored): Promise<never> => {
  const ref = refTo(found.direction.to, target);
  await openCluster(context.session.transport).remove(ref, { uid: target.metadata.uid });
  await releaseSource(context, found);
  throw new Refused(`the driver of ${placeText(found)} ended meanwhile: nothing has moved`);
};

/** Continues a move from its new object. */
const goOn = async (context: MoveContext, found: Found, begun: Stored): Promise<void> => {
  const { session, tools } = context;
  const { direction, namespace, source } = found;
  const from = begun.metadata.annotations?.[movedFrom] ?? "";
  const driver = await driverOf(context, found, [from, begun.metadata.uid]);
  if (driver === undefined && !hasStatus(begun)) return await giveUp(context, found, begun);
  const target = await withStatus(context, found, begun, driver);
  if (driver !== undefined) {
    const handed = { from, target, driver };
    await handOver(context, direction, { resource: pods, object: driver }, handed);
    tools.print(`${placeText(found)}: driver ${driver.metadata.name} belongs to ${direction.to.group}`);
    for (const belonging of await belongingsOf(session, namespace, from, driver))
      await handOver(context, direction, belonging, handed);
  }
  await moveRecord(context, found, target.metadata.uid);
  await deleteSource(context, found);
  if (source !== undefined)
    tools.print(`${placeText(found)}: the object of ${direction.from.group} is deleted, its pods stay`);
  await annotate(context, direction.to, target, { [pausedAnnotation]: null, [movedFrom]: null });
};

/** Moves an application that is held, or continues its move. */
export const finishMove = async (context: MoveContext, found: Found): Promise<void> => {
  if (isBegun(found) && found.target !== undefined) return await goOn(context, found, found.target);
  const judged = await judgeMove(context.session, found);
  if (judged.blocks.length > 0) {
    await releaseSource(context, found);
    throw new Refused(`${placeText(found)} has changed meanwhile, and stays: ${judged.blocks.join("; ")}`);
  }
  await goOn(context, found, await createTarget(context, found, judged));
};
