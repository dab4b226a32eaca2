/** Fairness: many objects of one tenant delay no other tenant. */
import { setTimeout as sleep } from "node:timers/promises";
import { each } from "../../support/parallel.ts";
import { type Attack, must } from "./attack.ts";
import { application, command, cron, flow, job, type Obj, remove, scheduled, task } from "./objects.ts";
import { allowedMs, fresh, pathOf, type Stand } from "./stand.ts";

type Crowd = {
  readonly name: string;
  readonly count: number;
  readonly object: (at: number) => Obj;
  readonly short?: true;
};

/** A time beyond this is slow on any machine, ms. */
const slowestMs = 20_000;

/** Applies a crowd and times a neighbour three times meanwhile: the median must be about the time without the crowd. */
const borne = async (stand: Stand, { count, object }: Crowd): Promise<undefined> => {
  const alone = await stand.neighbour();
  const objects = Array.from({ length: count }, (_, at) => object(at));
  await each(objects, (one) => stand.call("POST", pathOf(one.kind), one));
  const times = [await stand.neighbour(), await stand.neighbour(), await stand.neighbour()];
  await each(objects, (one) => remove(stand, one));
  const middle = times.toSorted((a, b) => a - b)[1] ?? 0;
  if (middle <= Math.min(allowedMs([alone]), slowestMs)) return undefined;
  // If the machine has become busy since then, the neighbour is slow without a crowd, too: the bound is measured
  // afterwards.
  const allowed = allowedMs([await stand.neighbour()]);
  must(
    middle <= Math.min(allowed, slowestMs),
    `neighbours took ${times.map(Math.round).join(", ")} ms, alone ${Math.round(alone)}`,
  );
  return undefined;
};

const spark = (name: string, count: number, more: Partial<Crowd> = {}): Crowd => ({
  ...{ name, count },
  object: () => application(fresh("crowd"), {}),
  ...more,
});

const rows: readonly Crowd[] = [
  spark("400 new applications", 400, { short: true }),
  spark("400 applications that are refused", 400, {
    object: () => application(fresh("crowd"), { driver: { memory: "x" } }),
  }),
  spark("400 suspended applications", 400, { object: () => application(fresh("crowd"), { suspend: true }) }),
  spark("100 applications with references that double", 100, {
    object: () =>
      application(fresh("crowd"), {
        sparkConf: {
          "spark.a": `$\{spark.b}$\{spark.b}`,
          "spark.b": `$\{spark.c}`.repeat(500),
          "spark.c": "c".repeat(2_000),
        },
      }),
  }),
  spark("200 schedules that are due every second", 200, {
    object: () => scheduled(fresh("crowd"), { schedule: "@every 1s" }),
  }),
  spark("200 CronJobs", 200, { object: () => cron(fresh("crowd"), { schedule: "* * * * *" }) }),
  spark("200 jobs of five pods", 200, { object: () => job(fresh("crowd"), { tasks: [task("w", 5)] }) }),
  spark("200 flows of ten", 200, {
    object: () =>
      flow(
        fresh("crowd"),
        Array.from({ length: 10 }, (_, at) => ({ name: `f${at}` })),
      ),
  }),
  spark("500 commands to nobody", 500, {
    object: () =>
      command(fresh("crowd"), "AbortJob", {
        apiVersion: "batch.volcano.sh/v1alpha1",
        kind: "Job",
        name: "nobody",
        uid: "0",
        controller: true,
      }),
  }),
];

/** One object that changes 500 times. */
const restless: Attack = {
  ...{ class: "fairness", name: "an application whose annotations change 500 times", stage: "cluster" },
  run: async (stand) => {
    const object = application(fresh("crowd"), { suspend: true });
    await stand.call("POST", pathOf(object.kind), object);
    const path = `${pathOf(object.kind)}/${object.metadata.name}`;
    const changes = Array.from({ length: 500 }, String);
    await each(changes, (at) =>
      stand.call("PATCH", path, { metadata: { annotations: { at } } }, "application/merge-patch+json"),
    );
    await remove(stand, object);
    return undefined;
  },
};

/** A Command in a tenant's namespace must not affect a cluster-scoped queue. */
const closesQueues: Attack = {
  ...{
    class: "fairness",
    name: "a command of a tenant's namespace that closes the default queue",
    stage: "cluster",
  },
  short: true,
  run: async (stand) => {
    const { body } = await stand.call("GET", `${pathOf("Queue")}/default`);
    const { uid } = Object(Object(body)["metadata"]);
    const target = {
      apiVersion: "scheduling.volcano.sh/v1beta1",
      kind: "Queue",
      name: "default",
      uid,
      controller: true,
    };
    await stand.call("POST", pathOf("Command"), command(fresh("close"), "CloseQueue", target));
    await sleep(2_000);
    const after = await stand.call("GET", `${pathOf("Queue")}/default`);
    const state = String(Object(Object(Object(after.body)["status"]))["state"] ?? "");
    must(!/Clos/.test(state), `the queue is ${state}`);
    return undefined;
  },
};

export const crowds: readonly Attack[] = [
  ...rows.map(
    (crowd): Attack => ({
      ...(crowd.short === undefined ? {} : { short: crowd.short }),
      ...{ class: "fairness", name: crowd.name, stage: "cluster" },
      run: (stand) => borne(stand, crowd),
    }),
  ),
  restless,
  closesQueues,
];
