/**
 * `rekindle migrate --undo`: restores upstream's installation and leaves the applications as they are. It holds
 * upstream's leases meanwhile, so Rekindle's hosts go to standby first.
 */

import { recordId, recordsIn } from "../inspection/record.ts";
import { Refused } from "../io/failure.ts";
import type { Counted } from "./families.ts";
import { enforceHooks, makeHooks } from "./hooks.ts";
import { dropRecords, madeBy, scale, type Work, waitFor } from "./leave.ts";
import { heldByOther, holdLeases, type Lock } from "./lock.ts";
import { dropSaved, type Kept, keepSaved, loadSaved, type Saved } from "./saved.ts";
import { findInstalled, objectsOf } from "./upstream.ts";

/** Hosts check the leases every 5 s, and a step that is under way ends within 20 s. */
const settleMs = 30_000;

/** A server whose pod has no probe counts as available before it listens. */
const listeningMs = 5_000;

type Records = Awaited<ReturnType<typeof recordsIn>>;

/** Lists the objects whose record holds more than their status shows: upstream reads the status only. */
const untoldOf = async (
  { session }: Work,
  { watched }: Saved,
  { resource, isTold }: Counted,
  records: Records,
): Promise<readonly string[]> => {
  const objects = (await objectsOf(session, resource)) ?? [];
  return objects
    .filter(({ metadata }) => watched.length === 0 || watched.includes(metadata.namespace ?? ""))
    .flatMap((object) => {
      const { namespace = "", name } = object.metadata;
      const record = records.get(recordId({ cluster: "default", kind: resource.kind, namespace, name }));
      return record === undefined || isTold(record.memory, object) ? [] : [`${namespace}/${name}`];
    });
};

/** Checks the first kind of a family, the only one whose status may be behind its memory. */
const untold = async (work: Work, saved: Saved): Promise<readonly string[]> =>
  await untoldOf(work, saved, work.family.kinds[0], await recordsIn(work.session, ""));

const settled = async (work: Work, { saved }: Kept, lock: Lock, force: boolean): Promise<void> => {
  const { tools } = work;
  tools.print(`waiting ${settleMs / 1_000} s for hosts of Rekindle to stand by`);
  for (let waited = 0; waited < settleMs; waited += 5_000) {
    await tools.sleep(5_000);
    await lock.keep();
  }
  const names = await untold(work, saved);
  if (names.length === 0 || force) return;
  await lock.release(madeBy(saved));
  throw new Refused(
    `upstream could not continue from the records of ${names.slice(0, 5).join(", ")}${names.length > 5 ? ", …" : ""}: let a host run for a minute and try again, or use --force`,
  );
};

const restore = async (work: Work, kept: Kept, lock: Lock): Promise<void> => {
  const { workloads, watched } = kept.saved;
  await dropRecords(work, watched);
  const webhooks = workloads.filter(({ part }) => part === "webhook");
  for (const one of webhooks) await scale(work, one, one.replicas);
  await makeHooks(work, kept.saved);
  const answering = async (): Promise<boolean> => {
    const wanted = webhooks.filter(({ replicas }) => replicas > 0).map(({ namespace, name }) => `${namespace}/${name}`);
    const { workloads: now } = await findInstalled(work.session, work.family);
    const there = now.filter(({ available }) => available > 0).map(({ namespace, name }) => `${namespace}/${name}`);
    return wanted.every((one) => there.includes(one) || !now.some((w) => `${w.namespace}/${w.name}` === one));
  };
  await waitFor(work, "its webhook server to answer", answering, lock.keep);
  if (kept.saved.hooks.length > 0) await work.tools.sleep(listeningMs);
  await enforceHooks(work, kept.saved);
  await lock.keep();
  for (const one of workloads.filter(({ part }) => part === "controller")) await scale(work, one, one.replicas);
};

/** Begins the way back, or continues it after a death. */
export const goBack = async (work: Work, force: boolean): Promise<void> => {
  const { session, tools, family } = work;
  const before = await loadSaved(session, family);
  if (before === undefined) throw new Refused("there is nothing to undo: no record of a migration is in this cluster");
  const kept = await keepSaved(work, { ...before.saved, phase: "returning" }, before);
  const { leases, now } = await findInstalled(session, family);
  const leads = leases.some((lease) => heldByOther(lease, now));
  if (leads) {
    // Upstream leads already: an earlier run that died, or a user, started it. The rest is restored.
    const lock: Lock = { keep: async () => {}, release: async () => {} };
    await restore(work, kept, lock);
  } else {
    const lock = await holdLeases(session, kept.saved.leases, tools.now);
    await settled(work, kept, lock, force);
    await restore(work, kept, lock);
    await lock.release(madeBy(kept.saved));
  }
  await dropSaved(session, kept);
};
