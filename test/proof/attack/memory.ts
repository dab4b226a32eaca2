/** Memory: objects, records and requests of one tenant that make a host hold much memory. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Attack, must } from "./attack.ts";
import {
  answerOf,
  application,
  apply,
  besideSuspended,
  container,
  type Fields,
  isRefused,
  job,
  type Obj,
  remove,
  task,
} from "./objects.ts";
import { attackers, fresh, pathOf, type Stand, waitFor } from "./stand.ts";

const many = <T>(count: number, make: (at: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, at) => make(at));

const attack = (name: string, run: Attack["run"], more: Partial<Attack> = {}): Attack => ({
  ...{ class: "memory", name, stage: "cluster", run },
  ...more,
});

/** Creates an object, waits until the host has refused it or `ms` are over, and deletes the object. */
const borne = async (stand: Stand, object: Obj, ms: number): Promise<undefined> => {
  const made = await stand.call("POST", pathOf(object.kind), object);
  must(made.status === 201, `not taken: ${answerOf(made)}`);
  await waitFor(() => isRefused(stand, object), ms);
  await remove(stand, object);
  return undefined;
};

const tasks = (count: number, replicas: number, pod: Fields = {}): readonly Fields[] =>
  many(count, (at) => task(`t${at}`, replicas, {}, pod));

const variables = (count: number, length: number) =>
  many(count, (at) => ({ name: `V${at}`, value: "v".repeat(length) }));

const jobs: readonly Attack[] = [
  attack(
    "2,000 tasks with the plugin svc",
    (stand) => borne(stand, job(fresh("m"), { tasks: tasks(2_000, 1), plugins: { svc: [] } }), 6_000),
    { short: true },
  ),
  attack("2,000 tasks with svc, env and ssh", (stand) =>
    borne(stand, job(fresh("m"), { tasks: tasks(2_000, 1), plugins: { svc: [], env: [], ssh: [] } }), 6_000),
  ),
  attack("20,000 replicas of one task", (stand) =>
    borne(stand, job(fresh("m"), { tasks: [task("w", 20_000)], plugins: { svc: [] } }), 6_000),
  ),
  attack("5,000 replicas, each pod with 300 kB of variables", (stand) =>
    borne(
      stand,
      job(fresh("m"), {
        tasks: [task("w", 5_000, {}, { containers: [{ ...container, env: variables(300, 1_000) }] })],
      }),
      5_000,
    ),
  ),
  attack("500 tasks of 1,000 replicas with a megabyte of variables", (stand) =>
    apply(
      stand,
      job(fresh("m"), {
        tasks: tasks(500, 1_000),
        plugins: { env: many(200, (at) => `--a${at}=${"x".repeat(4_000)}`) },
      }),
    ),
  ),
];

const own = (name: string, instances: number, batch: string, conf: Fields = {}): Obj =>
  application(
    name,
    {
      executor: { instances, cores: 1, memory: "512m" },
      sparkConf: { "spark.kubernetes.allocation.batch.size": batch, ...conf },
    },
    { annotations: { "rekindle.dev/executors": "own", "rekindle.dev/executor-batch": batch } },
  );

const executors: readonly Attack[] = [
  attack("100,000 executors in one batch", (stand) => borne(stand, own(fresh("m"), 100_000, "100000"), 4_000), {
    short: true,
  }),
  attack("2,147,483,647 executors in one batch", (stand) =>
    borne(stand, own(fresh("m"), 2_147_483_647, "2147483647"), 3_000),
  ),
];

const large: readonly Attack[] = [
  attack("100 applications of 300 kB", async (stand) => {
    const objects = many(100, () =>
      application(fresh("m"), { sparkConf: { "spark.x": "x".repeat(300_000) }, suspend: true }),
    );
    for (const object of objects) await stand.call("POST", pathOf(object.kind), object);
    await sleep(2_000);
    for (const object of objects) await remove(stand, object);
    return undefined;
  }),
  attack("20 applications with 200 kB of annotations and 1 MB of arguments", async (stand) => {
    const meta = { annotations: { a: "x".repeat(200_000) } };
    const objects = many(20, () =>
      application(fresh("m"), { arguments: ["x".repeat(1_000_000)], suspend: true }, meta),
    );
    for (const object of objects) await stand.call("POST", pathOf(object.kind), object);
    await sleep(2_000);
    for (const object of objects) await remove(stand, object);
    return undefined;
  }),
  attack("a hundred ConfigMaps of 900 kB that nobody reads", async (stand) => {
    const names = many(100, () => fresh("map"));
    for (const name of names)
      await stand.call("POST", pathOf("ConfigMap"), {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name },
        data: { a: "x".repeat(900_000) },
      });
    for (const name of names) await stand.call("DELETE", `${pathOf("ConfigMap")}/${name}`);
    return undefined;
  }),
];

/** An attack on records by a user with the role `edit`: puts a spoiled spec into a record of the user's namespace. */
const records = (name: string, spoil: (spec: Fields) => Fields, short?: true): Attack =>
  attack(
    `a record with ${name}`,
    (stand) =>
      besideSuspended(stand, async (object) => {
        const found = await recordOf(stand, object.metadata.name);
        must(found !== undefined, "the host made no record");
        const { body } = await stand.call("GET", `${pathOf("Checkpoint")}/${found}`);
        const kept = Object(body);
        const changed = await stand.call("PUT", `${pathOf("Checkpoint")}/${found}`, {
          ...kept,
          spec: spoil(Object(kept["spec"])),
        });
        must(changed.status < 500, `the record was not taken: ${answerOf(changed)}`);
        await stand.call(
          "PATCH",
          `${pathOf(object.kind)}/${object.metadata.name}`,
          { metadata: { annotations: { touched: "1" } } },
          "application/merge-patch+json",
        );
        await sleep(700);
        await remove(stand, object);
        await stand.call("DELETE", `${pathOf("Checkpoint")}/${found}`);
      }),
    short === undefined ? {} : { short },
  );

const recordOf = async ({ call }: Stand, name: string): Promise<string | undefined> => {
  for (let left = 100; left > 0; left -= 1) {
    const { body } = await call("GET", pathOf("Checkpoint"));
    const items: readonly unknown[] = Object(body)["items"] ?? [];
    const found = items.map((one) => String(Object(Object(one)["metadata"])["name"])).find((one) => one.includes(name));
    if (found !== undefined) return found;
    await sleep(50);
  }
  return undefined;
};

/** Replaces every text of a JSON tree. */
const texts = (tree: unknown, to: (text: string) => unknown): unknown => {
  if (typeof tree === "string") return to(tree);
  if (Array.isArray(tree)) return tree.map((one) => texts(one, to));
  if (typeof tree !== "object" || tree === null) return tree;
  return Object.fromEntries(Object.entries(tree).map(([key, value]) => [key, texts(value, to)]));
};

const deep = (depth: number): unknown => (depth === 0 ? 1 : { a: deep(depth - 1) });

const spoiled: readonly Attack[] = [
  records("a megabyte in it", (spec) => ({ ...spec, memory: "x".repeat(1_000_000) })),
  records("texts of a megabyte of digits", (spec) => Object(texts(spec, () => "1".repeat(60_000)))),
  records("ordinals without end", (spec) => Object(texts(spec, () => many(36, () => "0-99999").join())), true),
  records("900 levels", (spec) => ({ ...spec, memory: deep(900) })),
  records("nothing in it", () => ({})),
  records("lists in the place of texts", (spec) => Object(texts(spec, () => many(1_000, String)))),
  records("somebody else's application in it", (spec) =>
    Object(texts(spec, (text) => text.replaceAll(attackers, "default"))),
  ),
];

export const memories: readonly Attack[] = [...jobs, ...executors, ...large, ...spoiled];
