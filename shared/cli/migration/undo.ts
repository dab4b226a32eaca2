/**
 * `rekindle migrate --undo`: restores upstream's installation and leaves the applications as they are. It holds
 * upstream's leases meanwhile. Webhook configurations are created with failurePolicy Ignore and get their own policy
 * when their server answers, so no request is refused in between.
 */
import * as z from "zod";
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { replaceObject } from "../../adapters/kubernetes/requests.ts";
import { ApiError } from "../../core/http.ts";
import { keyKindOf, type Obj, type Ref, type Stored } from "../../core/object.ts";
import { Refused } from "../../inspection/io/refusal.ts";
import { recordId, recordsIn } from "../../inspection/record.ts";
import {
  dropRecords,
  heldByOther,
  holdLeases,
  type Lock,
  type MigrationContext,
  madeBy,
  scale,
  waitFor,
} from "./apply.ts";
import type { CountedKind } from "./families.ts";
import {
  dropSaved,
  findInstalled,
  hookOf,
  type KeptObject,
  keepSaved,
  loadSaved,
  objectsOf,
  restoring,
  type Saved,
} from "./upstream.ts";

const listed = z.looseObject({ name: z.string(), failurePolicy: z.string().optional() });

type Webhook = z.infer<typeof listed>;

const webhooksOf = (object: Obj): readonly Webhook[] => z.array(listed).catch([]).parse(object["webhooks"]);

/** The configuration with failurePolicy Ignore, and with the annotation that marks it as not in force yet. */
const lenient = (object: Obj): Obj => ({
  ...object,
  metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, [restoring]: "true" } },
  webhooks: webhooksOf(object).map((webhook) => ({ ...webhook, failurePolicy: "Ignore" })),
});

/** Creates the saved configurations. An existing one stays: an earlier run or its own server has created it. */
const makeHooks = async ({ session, tools }: MigrationContext, { hooks }: Saved): Promise<void> => {
  for (const { ref, object } of hooks.map(hookOf)) {
    try {
      await openCluster(session.transport).create(ref, lenient(object));
      tools.print(`${object.kind} ${ref.name} created again, not in force yet`);
    } catch (cause) {
      if (!(cause instanceof ApiError) || cause.reason !== "AlreadyExists") throw cause;
    }
  }
};

/** The existing configuration with its server's later changes (its certificate) and the saved failure policies. */
const inForce = (there: Stored, wanted: Obj): Obj => {
  const policies = new Map(webhooksOf(wanted).map(({ name, failurePolicy }) => [name, failurePolicy]));
  const { [restoring]: _, ...annotations } = there.metadata.annotations ?? {};
  return {
    ...there,
    metadata: { ...there.metadata, annotations },
    webhooks: webhooksOf(there).map((webhook) => ({ ...webhook, failurePolicy: policies.get(webhook.name) ?? "Fail" })),
  };
};

/** Attempts at an update: the server may write its configuration at the same moment. */
const tries = 5;

const enforce = async ({ session, tools }: MigrationContext, ref: Ref, wanted: Obj): Promise<void> => {
  for (let left = tries; left > 0; left--) {
    const { value: there } = await openCluster(session.transport).get(ref);
    if (there?.metadata.annotations?.[restoring] === undefined) return;
    try {
      await replaceObject(session.transport, ref, inForce(there, wanted));
      return tools.print(`${wanted.kind} ${ref.name} is in force`);
    } catch (cause) {
      if (!(cause instanceof ApiError) || cause.status !== 409 || left === 1) throw cause;
    }
  }
};

/** Puts the configurations of `makeHooks` into force; one that another client created stays as it is. */
const enforceHooks = async (work: MigrationContext, { hooks }: Saved): Promise<void> => {
  for (const { ref, object } of hooks.map(hookOf)) await enforce(work, ref, object);
};

/** Hosts check the leases every 5 s, and a step that is under way ends within 20 s. */
const settleMs = 30_000;

/** A server whose pod has no probe counts as available before it listens. */
const listeningMs = 5_000;

type Records = Awaited<ReturnType<typeof recordsIn>>;

/** Lists the objects whose record holds more than their status shows: upstream reads the status only. */
const untoldOf = async (
  { session }: MigrationContext,
  { watched }: Saved,
  { resource, isReported }: CountedKind,
  records: Records,
): Promise<readonly string[]> => {
  const objects = (await objectsOf(session, resource)) ?? [];
  return objects
    .filter(({ metadata }) => watched.length === 0 || watched.includes(metadata.namespace ?? ""))
    .flatMap((object) => {
      const { namespace = "", name } = object.metadata;
      const record = records.get(recordId({ cluster: "default", kind: keyKindOf(resource), namespace, name }));
      return record === undefined || isReported(record.memory, object) ? [] : [`${namespace}/${name}`];
    });
};

/** Checks the first kind of a family, the only one whose status may be behind its memory. */
const unreported = async (work: MigrationContext, saved: Saved): Promise<readonly string[]> =>
  await untoldOf(work, saved, work.family.kinds[0], await recordsIn(work.session, ""));

const settled = async (work: MigrationContext, { saved }: KeptObject, lock: Lock, force: boolean): Promise<void> => {
  const { tools } = work;
  tools.print(`waiting ${settleMs / 1_000} s for hosts of Rekindle to stand by`);
  for (let waited = 0; waited < settleMs; waited += 5_000) {
    await tools.sleep(5_000);
    await lock.keep();
  }
  const names = await unreported(work, saved);
  if (names.length === 0 || force) return;
  await lock.release(madeBy(saved));
  throw new Refused(
    `upstream could not continue from the records of ${names.slice(0, 5).join(", ")}${names.length > 5 ? ", …" : ""}: let a host run for a minute and try again, or use --force`,
  );
};

const restore = async (work: MigrationContext, kept: KeptObject, lock: Lock): Promise<void> => {
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
export const goBack = async (work: MigrationContext, force: boolean): Promise<void> => {
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
