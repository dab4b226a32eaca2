/**
 * Signs: what a tenant with Kubernetes' role `edit` in its own namespaces can write to look like another controller, or
 * like Volcano's scheduler. None stops the kinds of another tenant, and none is told as a standby.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { each } from "../../support/parallel.ts";
import { type Attack, must, onDispatcher } from "./attack.ts";
import { answerOf, job, type Obj, remove } from "./objects.ts";
import { type Forgery, forgeries, shortForgeries } from "./signs-forged.ts";
import { allowedMs, attackers, fresh, pathOf, type Stand, waitFor } from "./stand.ts";

/** A host looks for the workloads of other controllers every 30 s. */
const lookMs = 34_000;
const longestMs = 60_000;

const create = async (stand: Stand, object: Obj): Promise<void> => {
  const made = await stand.call("POST", pathOf(object.kind, object.metadata.namespace), object);
  must(made.status === 201 || made.status === 409, `not taken: ${answerOf(made)}`);
};

/** Makes the objects of a forgery, and writes their status under the manager of the controller. */
const forge = async (stand: Stand, { objects, status, manager = "kubectl" }: Forgery): Promise<void> => {
  for (const object of objects) await create(stand, object);
  if (status === undefined) return;
  await each(objects, async ({ kind, metadata: { namespace, name } }) => {
    const path = `${pathOf(kind, namespace)}/${name}/status?fieldManager=${manager}`;
    const { status: code } = await stand.call("PATCH", path, { status }, "application/merge-patch+json");
    must(code < 500, `the write of a status ends with ${code}`);
  });
};

/** Returns the ms from the POST of another tenant's job to its pod. */
const jobMs = async (stand: Stand): Promise<number> => {
  const name = fresh("neighbour");
  const object = job(name, {}, { namespace: "default" });
  const began = performance.now();
  await create(stand, object);
  try {
    const isThere = await waitFor(async () => {
      const { status } = await stand.call("GET", `${pathOf("Pod", "default")}/${name}-w-0`);
      return status === 200;
    }, longestMs);
    must(isThere, `another tenant's job has no pod after ${longestMs / 1_000} s`);
    return performance.now() - began;
  } finally {
    await remove(stand, object);
  }
};

const mustServe = async ({ host }: Stand): Promise<void> => {
  const ready = await fetch(`${host.url}/readyz`);
  const body = await ready.text();
  must(ready.status === 200 && body === "ok", `/readyz answers ${ready.status}: ${body.slice(0, 500)}`);
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
    await each(forgery.objects, (object) => remove(stand, object));
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
    await each(forgery.objects, (object) => remove(stand, object));
  }
  return undefined;
};

/** Writes all forgeries and waits until a host has looked for each kind of sign. Returns the longest time of a job. */
const forgeAll = async (stand: Stand, all: readonly Forgery[]): Promise<number> => {
  const alone: number[] = [];
  for (let nth = 0; nth < 3; nth += 1) alone.push(await jobMs(stand));
  const names = new Set(all.flatMap(({ objects }) => objects.map(({ metadata }) => metadata.namespace ?? attackers)));
  for (const name of names) await create(stand, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
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

export const signs: readonly Attack[] = [
  ...attacksOf(shortForgeries, { stage: "cluster", short: true }),
  ...attacksOf(forgeries, { stage: "cluster" }),
  ...onDispatcher(attacksOf(shortForgeries, { stage: "dispatcher" })).map((one) => ({ ...one, short: true as const })),
  ...onDispatcher(attacksOf(forgeries, { stage: "dispatcher" })),
];
