/**
 * Signs: what a tenant can write in its own namespaces to look like another controller, or like Volcano's scheduler. None
 * stops the kinds of another tenant, and none is told as a standby.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { each } from "../../support/parallel.ts";
import { type Attack, must, onDispatcher } from "./attack.ts";
import { answerOf, job, type Obj, remove } from "./objects.ts";
import { type Forgery, forgeries, lease, shortForgeries } from "./signs-forged.ts";
import { allowedMs, attackers, fresh, type Hands, pathOf, type Stand, waitFor } from "./stand.ts";
import { owned } from "./tenant.ts";

/** A host looks for the workloads of other controllers every 30 s. */
const lookMs = 34_000;
const longestMs = 60_000;
/** A function keeps what it has read of leases for 10 s. */
const keptMs = 10_500;
/** The time that a job has for a pod that it must not get, ms. */
const besideMs = 4_000;

const create = async ({ call }: Hands, object: Obj): Promise<void> => {
  const made = await call("POST", pathOf(object.kind, object.metadata.namespace), object);
  must(made.status === 201 || made.status === 409, `not taken: ${answerOf(made)}`);
};

const withoutStatus: ReadonlySet<string> = new Set(["ServiceAccount", "Role", "RoleBinding"]);

/**
 * The tenant makes the objects of a forgery, and writes their status under the manager of the controller; that of a
 * PodGroup is a field like any other.
 */
const forge = async (
  { tenant }: Stand,
  { objects, status, manager = "kubectl", isBarred = false }: Forgery,
): Promise<void> => {
  if (!isBarred) for (const object of objects) await create(tenant, object);
  if (status === undefined) return;
  const written = objects.filter(({ kind }) => !withoutStatus.has(kind));
  await each(written, async ({ kind, metadata: { namespace, name } }) => {
    const path = `${pathOf(kind, namespace)}/${name}${kind === "PodGroup" ? "" : "/status"}?fieldManager=${manager}`;
    const wrote = await tenant.call("PATCH", path, { status }, "application/merge-patch+json");
    must(wrote.status === (isBarred ? 403 : 200), `the write of a status: ${answerOf(wrote)}`);
  });
};

const withdraw = ({ tenant }: Stand, { objects, isBarred = false }: Forgery): Promise<void> =>
  each(isBarred ? [] : objects, (object) => remove(tenant, object));

/** Another tenant's job. */
const neighbourJob = (): Obj => job(fresh("neighbour"), {}, { namespace: "default" });

const hasPod = async ({ call }: Stand, { metadata: { name } }: Obj): Promise<boolean> =>
  (await call("GET", `${pathOf("Pod", "default")}/${name}-w-0`)).status === 200;

/** Returns the ms from the POST of another tenant's job to its pod. */
const jobMs = async (stand: Stand): Promise<number> => {
  const object = neighbourJob();
  const began = performance.now();
  await create(stand, object);
  try {
    const isThere = await waitFor(() => hasPod(stand, object), longestMs);
    must(isThere, `another tenant's job has no pod after ${longestMs / 1_000} s`);
    return performance.now() - began;
  } finally {
    await remove(stand, object);
  }
};

const readiness = async ({ host }: Stand): Promise<string> => {
  const ready = await fetch(`${host.url}/readyz`);
  return `${ready.status} ${await ready.text()}`;
};

const mustServe = async (stand: Stand): Promise<void> => {
  const { host } = stand;
  const ready = await readiness(stand);
  must(ready === "200 ok", `/readyz answers ${ready.slice(0, 500)}`);
  const told = host
    .log()
    .split("\n")
    .find((line) => line.includes("standby: "));
  must(told === undefined, `the log tells a standby: ${told?.slice(0, 500)}`);
};

/** Writes a forgery again, deletes it again if it does so, and checks what another tenant and the operator see. */
const check = async (stand: Stand, forgery: Forgery, allowed: number): Promise<undefined> => {
  await forge(stand, forgery);
  for (let nth = 0; nth < (forgery.rounds ?? 0); nth += 1) {
    await withdraw(stand, forgery);
    await forge(stand, forgery);
  }
  try {
    let ms = await jobMs(stand);
    if (ms > allowed) ms = Math.min(ms, await jobMs(stand));
    must(
      ms <= allowed,
      `another tenant's job had its pod after ${Math.round(ms)} ms: allowed are ${Math.round(allowed)}`,
    );
    await mustServe(stand);
  } finally {
    await withdraw(stand, forgery);
  }
  return undefined;
};

/** Writes all forgeries and waits until a host has looked for each kind of sign. Returns the longest time of a job. */
const forgeAll = async (stand: Stand, all: readonly Forgery[]): Promise<number> => {
  const alone: number[] = [];
  for (let nth = 0; nth < 3; nth += 1) alone.push(await jobMs(stand));
  const names = new Set(all.flatMap(({ objects }) => objects.map(({ metadata }) => metadata.namespace ?? attackers)));
  for (const name of names) await owned(stand, name);
  await each(all, (one) => forge(stand, one));
  await sleep(lookMs);
  return allowedMs(alone);
};

/** The cases of a stage share the forgeries, which the first of them writes. */
const attacksOf = (all: readonly Forgery[], more: Pick<Attack, "stage" | "short">): readonly Attack[] => {
  let forged: Promise<number> | undefined;
  return all.map(
    (forgery): Attack => ({
      ...{ class: "signs", name: `forged: ${forgery.name}` },
      ...more,
      run: async (stand) => {
        forged ??= forgeAll(stand, all);
        return await check(stand, forgery, await forged);
      },
    }),
  );
};

/**
 * A controller that an administrator installed comes and goes: another tenant's job has no pod while it renews its lease,
 * and has it after that. Last of its stage: the others expect a log without standby. `kept`: how long, ms, the
 * process that takes steps may act on an older look at the leases.
 */
const real = (kept: number): Attack => ({
  ...{ class: "signs", name: "real: a key that met the standby beside a controller comes back", stage: "cluster" },
  run: async (stand) => {
    const namespace = "volcano-system";
    const sign = lease("vc-controller-manager", namespace, { leaseDurationSeconds: 3_600 });
    await create(stand, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
    await create(stand, sign);
    const object = neighbourJob();
    try {
      const isTold = async (): Promise<boolean> => (await readiness(stand)).includes("vc-controller-manager");
      must(await waitFor(isTold, lookMs), "/readyz does not tell of the controller");
      await sleep(kept);
      await create(stand, object);
      await sleep(besideMs);
      must(!(await hasPod(stand, object)), "a job has a pod beside the controller");
      await remove(stand, sign);
      must(await waitFor(() => hasPod(stand, object), longestMs), "the job has no pod after the controller has gone");
      const isOver = async (): Promise<boolean> => (await readiness(stand)) === "200 ok";
      must(await waitFor(isOver, lookMs), `/readyz still tells of it: ${await readiness(stand)}`);
    } finally {
      await remove(stand, sign);
      await remove(stand, object);
    }
    return undefined;
  },
});

export const signs: readonly Attack[] = [
  ...attacksOf(shortForgeries, { stage: "cluster", short: true }),
  ...attacksOf(forgeries, { stage: "cluster" }),
  real(0),
  ...onDispatcher(attacksOf(shortForgeries, { stage: "dispatcher" })).map((one) => ({ ...one, short: true as const })),
  ...onDispatcher([...attacksOf(forgeries, { stage: "dispatcher" }), real(keptMs)]),
];
