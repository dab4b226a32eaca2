/**
 * `rekindle migrate --apply`: scales upstream's controllers to zero, saves and removes its webhook configurations, and
 * lets Rekindle's hosts go on. Meanwhile it holds upstream's leader leases, but takes none that another holder renews.
 * Each part may run twice, so a run that died is simply started again.
 */
import * as z from "zod";
import { checkpointResource } from "../../adapters/checkpoints/kubernetes.ts";
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { mergeObject, replaceObject } from "../../adapters/kubernetes/requests.ts";
import { ApiError } from "../../core/http.ts";
import type { Obj, Ref, Stored } from "../../core/object.ts";
import { counted } from "../../core/text.ts";
import { Refused } from "../../inspection/io/refusal.ts";
import type { RecordTable, Session } from "../../inspection/io/session.ts";
import type { Tools } from "../io/tools.ts";
import type { Family } from "./families.ts";
import {
  all,
  deployments,
  findInstalled,
  type Installed,
  type KeptObject,
  keepSaved,
  leases as leaseResource,
  leases,
  loadSaved,
  type Saved,
  savedOf,
  workloadOf,
} from "./upstream.ts";

type Place = { readonly namespace: string; readonly name: string };

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
  const { holderIdentity, leaseDurationSeconds, renewTime } = shape.safeParse(lease.spec).data ?? {};
  if (!holderIdentity || holderIdentity === holder) return false;
  return now <= Date.parse(renewTime ?? "") + (leaseDurationSeconds ?? 15) * 1_000;
};

/** The holder of a lease and the time since its last renewal, as text. `now` is the API server's clock. */
export const holderText = (lease: Stored, now: number): string => {
  const { holderIdentity, renewTime } = shape.safeParse(lease.spec).data ?? {};
  if (!holderIdentity) return "no holder";
  const seconds = Math.max(0, Math.round((now - Date.parse(renewTime ?? "")) / 1_000));
  return `${heldByOther(lease, now) ? "renewed" : "last renewed"} ${seconds} s ago by ${holderIdentity}`;
};

const refOf = ({ namespace, name }: Place): Ref => ({ resource: leases, namespace, name });

const micros = (at: number): string => new Date(at).toISOString().replace("Z", "000Z");

const ourSpec = (before: unknown, now: number): unknown => {
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
    throw new Refused(`the lease ${place.namespace}/${place.name} is renewed by another process, which leads again`);
  await replaceObject(transport, refOf(place), { ...lease, spec: ourSpec(lease.spec, date) });
};

export type Lock = {
  /** Renews the held leases when it is time to. */
  keep(): Promise<void>;
  /** Releases the leases, so that others need not wait. Deletes those that the migration created. */
  release(made: (place: Place) => boolean): Promise<void>;
};

const give = async ({ transport }: Session, place: Place, made: boolean): Promise<void> => {
  const { value: lease } = await openCluster(transport).get(refOf(place));
  const spec = shape.safeParse(lease?.spec).data;
  if (lease === undefined || spec?.holderIdentity !== holder) return;
  if (made) return await openCluster(transport).remove(refOf(place), { uid: lease.metadata.uid });
  try {
    await replaceObject(transport, refOf(place), { ...lease, spec: { ...spec, holderIdentity: "" } });
  } catch (cause) {
    if (!(cause instanceof ApiError) || cause.status !== 409) throw cause;
  }
};

/** Releases those of the leases that the migration holds. */
const releaseLeases = async (
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

/** The inputs of both directions of a migration. */
export type MigrationContext = {
  readonly session: Session;
  readonly family: Family;
  readonly tools: Pick<Tools, "print" | "now" | "sleep">;
  /** Longest wait for pods to come or go, ms. */
  readonly waitMs: number;
};

const pollMs = 2_000;

/** Polls until `isSo` answers true, and calls `keep` between two polls. */
export const waitFor = async (
  { tools, waitMs }: MigrationContext,
  what: string,
  isSo: () => Promise<boolean>,
  keep: () => Promise<void> = async () => {},
): Promise<void> => {
  const until = tools.now() + waitMs;
  for (let said = false; !(await isSo()); ) {
    if (!said) tools.print(`waiting for ${what}`);
    said = true;
    if (tools.now() >= until)
      throw new Refused(`${what}: not within ${waitMs / 1_000} s; run the same command again to continue`);
    await tools.sleep(pollMs);
    await keep();
  }
};

/** Sets the replicas of a Deployment. A missing one is reported only. */
export const scale = async ({ session, tools }: MigrationContext, place: Place, replicas: number): Promise<void> => {
  const ref = { resource: deployments, namespace: place.namespace, name: place.name };
  const { value } = await openCluster(session.transport).get(ref);
  if (value === undefined) return tools.print(`deployment ${place.namespace}/${place.name} is gone`);
  await mergeObject(session.transport, { ref }, { spec: { replicas } });
  tools.print(`deployment ${place.namespace}/${place.name} scaled to ${replicas}`);
};

const scaleAll = async (
  work: MigrationContext,
  { workloads }: Saved,
  part: "controller" | "webhook",
): Promise<void> => {
  for (const one of workloads.filter((each) => each.part === part)) await scale(work, one, 0);
};

/** True when no pod of the controllers is left, and all their leases have expired. */
const isStopped = async ({ session, family }: MigrationContext, { workloads, leases }: Saved): Promise<boolean> => {
  const cluster = openCluster(session.transport);
  for (const { namespace, name } of leases) {
    const { value, date } = await cluster.get({ resource: leaseResource, namespace, name });
    if (value !== undefined && heldByOther(value, date)) return false;
  }
  for (const { namespace, name } of workloads.filter(({ part }) => part === "controller")) {
    const { value } = await cluster.get({ resource: deployments, namespace, name });
    if (value !== undefined && workloadOf(family, value).some(({ standing }) => standing > 0)) return false;
  }
  return true;
};

/** The leases to hold: those that exist, or else the one that upstream would use. */
const placesOf = (saved: Saved, { lease }: Family): Saved["leases"] => {
  if (saved.leases.length > 0) return saved.leases;
  const namespace = saved.workloads[0]?.namespace;
  return namespace === undefined ? [] : [{ namespace, name: lease.usual, made: true }];
};

/** An API server may call a removed webhook for a moment longer: its server stays for this time. */
const forgottenMs = 3_000;

const removeHooks = async ({ session, tools }: MigrationContext, { hooks }: Installed): Promise<void> => {
  for (const { resource, object } of hooks) {
    const { name, uid } = object.metadata;
    await openCluster(session.transport).remove({ resource, name }, { uid });
    tools.print(`${resource.kind} ${name} removed, and kept in the record`);
  }
  if (hooks.length > 0) await tools.sleep(forgottenMs);
};

const dropObjects = async ({ session, family }: MigrationContext, watched: readonly string[]): Promise<number> => {
  const selector = `rekindle.dev/kind in (${family.remembered.join(",")})`;
  const records = await all(session, checkpointResource, selector);
  const theirs = records.filter(({ metadata }) => watched.length === 0 || watched.includes(metadata.namespace ?? ""));
  for (const { metadata } of theirs) {
    const { name, namespace = "", uid } = metadata;
    await openCluster(session.transport).remove({ resource: checkpointResource, namespace, name }, { uid });
  }
  return theirs.length;
};

const dropItems = async (
  { records, cluster }: RecordTable,
  { family }: MigrationContext,
  watched: readonly string[],
): Promise<number> => {
  const theirs = (await records.hints(watched)).filter(({ kind }) => family.remembered.includes(kind));
  for (const { kind, namespace, name } of theirs) {
    const key = { cluster, kind, namespace, name };
    const loaded = await records.load(key);
    if (loaded !== undefined) await records.remove(key, loaded.version);
  }
  return theirs.length;
};

/** Deletes the records of the time before upstream ran the applications: their status and pods are newer. */
export const dropRecords = async (work: MigrationContext, watched: readonly string[]): Promise<void> => {
  const { table } = work.session;
  const count = table === undefined ? await dropObjects(work, watched) : await dropItems(table, work, watched);
  if (count > 0) work.tools.print(`${counted(count, "checkpoint")} removed: Rekindle starts from the status`);
};

const handOver = async (work: MigrationContext, kept: KeptObject, lock: Lock): Promise<KeptObject> => {
  const { session, family } = work;
  const saved = savedOf(await findInstalled(session, family), kept.saved);
  const complete = await keepSaved(work, saved, kept);
  await lock.keep();
  await removeHooks(work, await findInstalled(session, family));
  await scaleAll(work, saved, "webhook");
  await dropRecords(work, saved.watched);
  return await keepSaved(work, { ...saved, phase: "left" }, complete);
};

/** Begins leaving upstream, or continues it after a death. Does nothing where upstream is already left. */
export const leave = async (work: MigrationContext): Promise<void> => {
  const { session, tools, family } = work;
  const before = await loadSaved(session, family);
  const installed = await findInstalled(session, family);
  if (before?.saved.phase === "left" && (await isStopped(work, before.saved)) && installed.hooks.length === 0) {
    await releaseLeases(session, before.saved.leases, madeBy(before.saved));
    return tools.print(`${family.title}: stopped already, and the webhook configurations are kept`);
  }
  const draft = savedOf(installed, before?.saved);
  const leases = placesOf(draft, family);
  const kept = await keepSaved(work, { ...draft, phase: "leaving", leases }, before);
  tools.print(`record: ConfigMap ${kept.object.metadata.namespace}/${kept.object.metadata.name}`);
  await scaleAll(work, kept.saved, "controller");
  await waitFor(work, "its controllers to end and their leases to lapse", () => isStopped(work, kept.saved));
  const lock = await holdLeases(session, leases, tools.now);
  const left = await handOver(work, kept, lock);
  await lock.release(madeBy(left.saved));
};

/** Whether the migration has created a lease, and may delete it. */
export const madeBy =
  ({ leases }: Saved) =>
  (place: Place): boolean =>
    leases.find(({ namespace, name }) => namespace === place.namespace && name === place.name)?.made ?? false;
