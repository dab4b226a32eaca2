/**
 * Readers find a ConfigMap of hosts before the pods for which they wait: the hosts of a job that is scaled are in the ConfigMap of `svc` before a
 * pod of the new size is created, also where a step finds that another writer was quicker.
 */
import assert from "node:assert/strict";
import { describe } from "node:test";
import type { Stored } from "../../../shared/core/object.ts";
import { at, home, volcanoJob } from "./objects.ts";
import { itOnStand, phaseOf, type Stand } from "./stand.ts";
import { answer } from "./way.ts";

const sized = (replicas: number) => {
  const { spec } = volcanoJob("pair", { runMs: 600_000 });
  const { tasks } = spec as { readonly tasks: readonly object[] };
  return { spec: { minAvailable: replicas, tasks: tasks.map((task) => ({ ...task, replicas })) } };
};

const hostsOf = (stand: Stand): unknown => at(stand.get("ConfigMap", "pair-svc"), "data", "worker.host");

/** The requests of hosts that change the job's ConfigMap or create one of its pods. */
const told = /^(?:PATCH .*\/configmaps\/pair-svc|POST .*\/pods)$/;

/** Answers the first patch of these objects as if another writer had been quicker; keeps the requests in their order. */
const overtaken = (stand: Stand, objects: string): { readonly requests: string[]; readonly met: () => boolean } => {
  const requests: string[] = [];
  let met = false;
  stand.fault(({ method, path }) => {
    const line = `${method} ${path.replace(/\?.*$/, "")}`;
    if (!met && method === "PATCH" && path.includes(`/${objects}/`)) {
      met = true;
      return answer(409, "Conflict", "the object has been modified");
    }
    if (told.test(line)) requests.push(line.replace(/ .*\//, " "));
    return undefined;
  });
  return { requests, met: () => met };
};

const named = "pair-worker-0.pair\npair-worker-1.pair";

/** A job of two pods that runs on a host. */
const running = async (stand: Stand): Promise<void> => {
  await stand.create(home);
  await stand.host();
  await stand.create(volcanoJob("pair", { runMs: 600_000 }));
  await stand.until("it runs", () => phaseOf(stand, "pair") === "Running", 60_000);
};

/** Scales the job; a patch of `objects` meets a Conflict, and the hosts are there at once all the same. */
const scaled = async (stand: Stand, objects: string, replicas: number): Promise<readonly string[]> => {
  const { requests, met } = overtaken(stand, objects);
  await stand.patch("Job", "pair", sized(replicas));
  await stand.turn(400);
  assert.ok(met(), "no patch met the Conflict");
  assert.equal(hostsOf(stand), replicas === 0 ? "" : named, "the hosts wait for a later step");
  return requests;
};

const isNew = ({ metadata }: Stored): boolean => metadata.deletionTimestamp === undefined;

/** The hosts are there while the pods of before still end, and before any new one. */
const back = async (stand: Stand, requests: readonly string[]): Promise<void> => {
  await stand.turn(400);
  assert.equal(hostsOf(stand), named);
  await stand.until("its pods exist", () => stand.all("Pod").filter(isNew).length === 2, 60_000);
  assert.match(requests.join(), /PATCH pair-svc(?:,POST pods)+$/);
};

const it = itOnStand();

describe("a job that is scaled to nothing and up again names its hosts first", () => {
  for (const objects of ["configmaps", "podgroups"]) {
    it(`where a patch of its ${objects} meets a Conflict on the way down`, async (stand) => {
      await running(stand);
      const requests = await scaled(stand, objects, 0);
      await stand.patch("Job", "pair", sized(2));
      await back(stand, requests);
    });
    it(`where a patch of its ${objects} meets a Conflict on the way up`, async (stand) => {
      await running(stand);
      await stand.patch("Job", "pair", sized(0));
      await stand.until("no pod is left", () => stand.all("Pod").length === 0, 60_000);
      await back(stand, await scaled(stand, objects, 2));
    });
  }
});
