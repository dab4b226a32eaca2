/**
 * Reads for `rekindle migrate --to` the application in each API, its driver, the other objects of its run, and the obstacles
 * to its move. Writes nothing.
 */
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { pages } from "../../adapters/kubernetes/requests.ts";
import { isPaused } from "../../core/annotation.ts";
import { ApiError } from "../../core/http.ts";
import type { Resource, Stored } from "../../core/object.ts";
import { notServed, Refused } from "../../inspection/io/refusal.ts";
import type { Session } from "../../inspection/io/session.ts";
import { type Direction, movedFrom, movingTo, type Translated } from "../../kube/api-move.ts";
import { isEnding, ownedBy } from "../../kube/pods.ts";
import {
  claims,
  configMaps,
  httpRoutes,
  ingresses,
  networkPolicies,
  podDisruptionBudgets,
  pods,
  services,
} from "../../kube/resources.ts";
import { families } from "./families.ts";
import { findInstalled, watchedBy } from "./upstream.ts";

export type Place = { readonly namespace: string; readonly name: string };

export type Found = Place & {
  readonly direction: Direction;
  readonly source: Stored | undefined;
  readonly target: Stored | undefined;
};

export const placeText = ({ namespace, name }: Place): string => `${namespace}/${name}`;

const objectIn = async ({ transport }: Session, resource: Resource, place: Place): Promise<Stored | undefined> => {
  try {
    return (await openCluster(transport).get({ resource, ...place })).value;
  } catch (cause) {
    if (!(cause instanceof ApiError) || !notServed(cause)) throw cause;
    throw new Refused(`the cluster serves no ${resource.plural}.${resource.group}: install its CRD first`);
  }
};

/** Reads the application in both APIs. */
export const findMove = async (session: Session, direction: Direction, place: Place): Promise<Found> => ({
  ...place,
  direction,
  source: await objectIn(session, direction.from, place),
  target: await objectIn(session, direction.to, place),
});

/** True once the new object exists: nothing is judged any more, and the move goes on to its end. */
export const isBegun = ({ target }: Found): boolean => target?.metadata.annotations?.[movedFrom] !== undefined;

const listOf = async (session: Session, resource: Resource, namespace: string, selector?: string) => {
  const found: Stored[] = [];
  try {
    for await (const { items } of pages(session.transport, { resource, namespace, selector })) found.push(...items);
  } catch (cause) {
    if (!(cause instanceof ApiError) || !notServed(cause)) throw cause;
  }
  return found;
};

/** The driver pods of an owner. */
export const findDrivers = async (session: Session, namespace: string, uid: string): Promise<readonly Stored[]> =>
  (await listOf(session, pods, namespace, "spark-role=driver")).filter((pod) => ownedBy(pod, uid));

/** Resources of objects that an application may own beside its pods. */
const beside: readonly Resource[] = [
  ...[services, configMaps, claims, networkPolicies, ingresses, httpRoutes, podDisruptionBudgets],
];

export type Belonging = { readonly resource: Resource; readonly object: Stored };

/** The objects that belong to the owner: its driver first, then the executors of its drivers, then all others. */
export const belongingsOf = async (
  session: Session,
  namespace: string,
  uid: string,
  driver: Stored | undefined,
): Promise<readonly Belonging[]> => {
  const all = await listOf(session, pods, namespace, "spark-role in (driver,executor)");
  const ofOwner = all.filter((pod) => ownedBy(pod, uid) && pod.metadata.uid !== driver?.metadata.uid);
  const ofDriver = all.filter((pod) => driver !== undefined && ownedBy(pod, driver.metadata.uid));
  const found: Belonging[] = [...new Set([...ofOwner, ...ofDriver])].map((object) => ({ resource: pods, object }));
  for (const resource of beside) {
    const owned = (await listOf(session, resource, namespace)).filter((object) => ownedBy(object, uid));
    found.push(...owned.map((object) => ({ resource, object })));
  }
  return found;
};

/** Upstream's controllers that run and watch the namespace: they would act on one of the two objects. */
const controllersOver = async (session: Session, namespace: string): Promise<readonly string[]> => {
  const both = [families.spark, families.apache].map(async (family): Promise<readonly string[]> => {
    const installed = await findInstalled(session, family);
    const watched = watchedBy(installed);
    const runs = installed.workloads.some(
      ({ part, replicas, standing }) => part === "controller" && replicas + standing > 0,
    );
    return runs && (watched.length === 0 || watched.includes(namespace))
      ? [`${family.title} runs: rekindle migrate --family ${family.name} --apply`]
      : [];
  });
  return (await Promise.all(both)).flat();
};

const held = (source: Stored, group: string): readonly string[] => {
  if (isEnding(source)) return ["it is being deleted"];
  const to = source.metadata.annotations?.[movingTo];
  if (to === undefined) return isPaused(source) ? ["it is paused: rekindle resume it first"] : [];
  return to === group ? [] : [`it moves to ${to}: finish that move first`];
};

export type Judged = Translated & { readonly driver: Stored | undefined };

/** Judges a move that has not begun: its translation, its driver, and everything that stands in the way. */
export const judgeMove = async (session: Session, found: Found): Promise<Judged> => {
  const { source, target, direction, namespace } = found;
  if (source === undefined) throw absent(found);
  const translated = direction.translate(source);
  const drivers = await findDrivers(session, namespace, source.metadata.uid);
  const [driver] = drivers;
  const ofDriver =
    drivers.length === 1 && driver !== undefined
      ? direction.obstaclesIn(driver)
      : [`it has ${drivers.length} driver pods: only a run with one driver moves`];
  const there =
    target === undefined ? [] : [`${direction.to.group} has an application of this name: rename or delete that one`];
  const blocks = [
    ...held(source, direction.to.group),
    ...there,
    ...translated.blocks,
    ...ofDriver,
    ...(await controllersOver(session, namespace)),
  ];
  return { ...translated, driver, blocks };
};

/** The error for an application that is not there to move. */
export const absent = (found: Found): Refused => {
  const { direction, target } = found;
  const says = `there is no ${direction.from.kind} ${placeText(found)} of ${direction.from.group}`;
  return new Refused(
    target === undefined
      ? `${says}; see them all with: rekindle list`
      : `${says}: ${direction.to.group} has it already, and nothing is left to do`,
  );
};
