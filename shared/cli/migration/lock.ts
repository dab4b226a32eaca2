/**
 * Upstream's own leader leases, held by the migration while it works: upstream cannot lead meanwhile, and Rekindle's
 * hosts go to standby. The migration never takes a lease that another holder renews.
 */
import * as z from "zod";
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { replaceObject } from "../../adapters/kubernetes/requests.ts";
import { ApiError } from "../../core/errors.ts";
import type { Obj, Ref, Stored } from "../../core/object.ts";
import { Refused } from "../io/failure.ts";
import type { Session } from "../io/tools.ts";
import { leases } from "./upstream.ts";

export type Place = { readonly namespace: string; readonly name: string };

const holder = "rekindle-migrate";

/** If the migration dies, others may go on after this time. A running migration renews well before. */
const durationSeconds = 60;
const renewMs = 15_000;

const shape = z.looseObject({
  holderIdentity: z.string().nullish(),
  leaseDurationSeconds: z.number().nullish(),
  renewTime: z.string().nullish(),
  leaseTransitions: z.number().nullish(),
});

/** Whether another holder has renewed the lease within its duration. */
export const heldByOther = (lease: Stored, now: number): boolean => {
  const { holderIdentity, leaseDurationSeconds, renewTime } = shape.safeParse(lease["spec"]).data ?? {};
  if (!holderIdentity || holderIdentity === holder) return false;
  return now <= Date.parse(renewTime ?? "") + (leaseDurationSeconds ?? 15) * 1_000;
};

/** The holder of a lease and the time since its last renewal, as text. `now` is the API server's clock. */
export const holderText = (lease: Stored, now: number): string => {
  const { holderIdentity, renewTime } = shape.safeParse(lease["spec"]).data ?? {};
  if (!holderIdentity) return "no holder";
  const seconds = Math.max(0, Math.round((now - Date.parse(renewTime ?? "")) / 1_000));
  return `${heldByOther(lease, now) ? "renewed" : "last renewed"} ${seconds} s ago by ${holderIdentity}`;
};

const refOf = ({ namespace, name }: Place): Ref => ({ resource: leases, namespace, name });

const micros = (at: number): string => new Date(at).toISOString().replace("Z", "000Z");

const ourSpec = (before: unknown, now: number): Obj["spec"] => {
  const { leaseTransitions } = shape.safeParse(before).data ?? {};
  const times = { acquireTime: micros(now), renewTime: micros(now) };
  return {
    ...{ holderIdentity: holder, leaseDurationSeconds: durationSeconds, ...times },
    leaseTransitions: (leaseTransitions ?? 0) + 1,
  };
};

const fresh = ({ namespace, name }: Place, now: number): Obj => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { namespace, name },
  spec: ourSpec(undefined, now),
});

/** Takes or renews a lease. Throws `Refused` when another holds it. */
const take = async ({ transport }: Session, place: Place): Promise<void> => {
  const cluster = openCluster(transport);
  const { value: lease, date } = await cluster.get(refOf(place));
  if (lease === undefined) return void (await cluster.create(refOf(place), fresh(place, date)));
  if (heldByOther(lease, date))
    throw new Refused(`the lease ${place.namespace}/${place.name} is renewed by another: it leads again`);
  await replaceObject(transport, refOf(place), { ...lease, spec: ourSpec(lease["spec"], date) });
};

export type Lock = {
  /** Renews the held leases when it is time to. */
  keep(): Promise<void>;
  /** Releases the leases, so that others need not wait. Deletes those that the migration created. */
  release(made: (place: Place) => boolean): Promise<void>;
};

const give = async ({ transport }: Session, place: Place, made: boolean): Promise<void> => {
  const { value: lease } = await openCluster(transport).get(refOf(place));
  const spec = shape.safeParse(lease?.["spec"]).data;
  if (lease === undefined || spec?.holderIdentity !== holder) return;
  if (made) return await openCluster(transport).remove(refOf(place), { uid: lease.metadata.uid });
  try {
    await replaceObject(transport, refOf(place), { ...lease, spec: { ...spec, holderIdentity: "" } });
  } catch (cause) {
    if (!(cause instanceof ApiError) || cause.status !== 409) throw cause;
  }
};

/** Releases those of the leases that the migration holds. */
export const releaseLeases = async (
  session: Session,
  places: readonly Place[],
  made: (place: Place) => boolean,
): Promise<void> => {
  for (const place of places) await give(session, place, made(place));
};

/** Takes all leases. `now` is this machine's clock, in ms, for spans only. */
export const holdLeases = async (session: Session, places: readonly Place[], now: () => number): Promise<Lock> => {
  const takeAll = async (): Promise<void> => {
    for (const place of places) await take(session, place);
  };
  await takeAll();
  let taken = now();
  return {
    keep: async () => {
      if (now() - taken < renewMs) return;
      await takeAll();
      taken = now();
    },
    release: (made) => releaseLeases(session, places, made),
  };
};
