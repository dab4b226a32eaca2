/**
 * Resources that all tenants share: the memory of a process for objects, the rounds that admit groups of pods, and the page. A
 * tenant, or a caller that may only read, takes a part of and another one finds room.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { each } from "../../support/parallel.ts";
import { type Attack, must } from "./attack.ts";
import {
  answerOf,
  application,
  command,
  container,
  type Fields,
  flow,
  job,
  type Obj,
  remove,
  task,
} from "./objects.ts";
import { atRest, attackers, fresh, pathOf, type Stand, waitFor } from "./stand.ts";

const many = <T>(count: number, make: (at: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, at) => make(at));

/** The most that an API server takes in the annotations of one object, less the names. */
const annotations = (): Readonly<Record<string, string>> => ({ text: "x".repeat(250_000) });

/** Creates objects, gives the host some time with them, and deletes them. */
const kept = async (
  stand: Stand,
  objects: readonly Obj[],
  ms: number,
  beside?: () => Promise<void>,
): Promise<undefined> => {
  try {
    await each(objects, async (object) => {
      const made = await stand.call("POST", pathOf(object.kind), object);
      must(made.status < 500, `not taken: ${answerOf(made)}`);
    });
    await beside?.();
    await sleep(ms);
  } finally {
    await each(objects, (object) => remove(stand, object));
  }
  return undefined;
};

const pod = (labels: Readonly<Record<string, string>>, more: Fields = {}): Obj => ({
  ...{ apiVersion: "v1", kind: "Pod" },
  metadata: { name: fresh("forged"), namespace: attackers, labels, ...more },
  spec: { containers: [container] },
});

const memory = (name: string, objects: () => readonly Obj[]): Attack => ({
  ...{ class: "memory", name, stage: "cluster" },
  run: (stand) => kept(stand, objects(), 3_000),
});

const flowName = "attacked-flow";

const memories: readonly Attack[] = [
  memory("1,500 suspended applications with 250 kB of annotations each", () =>
    many(1_500, () => application(fresh("large"), { suspend: true }, { annotations: annotations() })),
  ),
  memory("1,000 pods with forged labels and 250 kB of annotations each", () =>
    many(1_000, (at) =>
      pod({ "spark-role": "executor", "sparkoperator.k8s.io/app-name": `a${at}` }, { annotations: annotations() }),
    ),
  ),
  memory("1,000 pods with labels of a job and 500 owners each", () =>
    many(1_000, (at) =>
      pod(
        { "volcano.sh/job-name": `j${at}` },
        {
          ownerReferences: many(500, (nth) => ({
            ...{ apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job", name: `j${nth}`, uid: `${at}-${nth}` },
          })),
        },
      ),
    ),
  ),
  memory("150 jobs of 900 kB with the labels of one flow", () => [
    ...many(150, () => {
      const env = many(7, (at) => ({ name: `V${at}`, value: "v".repeat(128_000) }));
      const tasks = [task("w", 1, {}, { containers: [{ ...container, env }] })];
      const labels = { "volcano.sh/createdByJobFlow": `${attackers}.${flowName}` };
      return job(fresh("large"), { tasks, queue: "nobody" }, { labels });
    }),
    flow(flowName, [{ name: "a" }]),
  ]),
];

const group = (minResources: Readonly<Record<string, string>>): Obj => ({
  ...{ apiVersion: "scheduling.volcano.sh/v1beta1", kind: "PodGroup" },
  metadata: { name: fresh("group"), namespace: attackers },
  spec: { minMember: 1, queue: "default", minResources },
});

const patienceMs = 120_000;

/** Creates a second tenant's Job. Returns the time until its group was admitted and its pod created, ms. */
const admission = async (stand: Stand): Promise<number> => {
  const name = fresh("job");
  const { metadata, ...mine } = job(name, {});
  const path = pathOf("Job", "default");
  const began = performance.now();
  const made = await stand.call("POST", path, { ...mine, metadata: { ...metadata, namespace: "default" } });
  must(made.status === 201, `not taken: ${answerOf(made)}`);
  try {
    const isIn = await waitFor(async () => {
      const { status } = await stand.call("GET", `${pathOf("Pod", "default")}/${name}-w-0`);
      return status === 200;
    }, patienceMs);
    must(isIn, `a second tenant's Job was not admitted within ${patienceMs / 1_000} s`);
    return performance.now() - began;
  } finally {
    await stand.call("DELETE", `${path}/${name}`, { propagationPolicy: "Background" });
  }
};

/** The longest time of a second tenant's Job, ms; on an API server that stays slow without the attack, too, twice that. */
const longestMs = 10_000;

const groups = (name: string, make: () => readonly Obj[]): Attack => ({
  ...{ class: "fairness", name, stage: "cluster" },
  run: async (stand) => {
    const alone = await atRest({ neighbour: () => admission(stand) });
    return await kept(stand, make(), 0, async () => {
      const ms = await admission(stand);
      const told = `a second tenant's Job was admitted after ${Math.round(ms)} ms, alone after ${Math.round(alone)}`;
      must(ms <= Math.max(longestMs, 2 * alone), told);
    });
  },
});

const resources = (at: number, count: number): Readonly<Record<string, string>> =>
  Object.fromEntries(many(count, (nth) => [`example.com/r${at}-${nth}`, "1"]));

const rounds: readonly Attack[] = [
  groups("60 groups that each need 5,000 resources which nobody knows", () =>
    many(60, (at) => group(resources(at, 5_000))),
  ),
  groups("200 commands whose action has a megabyte", () =>
    many(200, () =>
      command(fresh("command"), "x".repeat(1_000_000), {
        ...{ apiVersion: "scheduling.volcano.sh/v1beta1", kind: "Queue", name: "root", uid: "0" },
      }),
    ),
  ),
  groups("2,000 groups of one pod", () => many(2_000, () => group({ cpu: "1m" }))),
];

type Page = { readonly status: number; readonly cookie: string };

const signIn = async ({ host, secrets }: Stand, name: string): Promise<Page> => {
  const headers = { authorization: `Bearer ${secrets.trigger}-${name}` };
  const answer = await fetch(`${host.url}/page/session`, { method: "POST", headers });
  await answer.arrayBuffer();
  return { status: answer.status, cookie: answer.headers.get("set-cookie")?.split(";")[0] ?? "" };
};

/** Opens a stream of a session of its own; nobody reads from it. */
const streamOf = async (stand: Stand, name: string, signal: AbortSignal): Promise<Response> => {
  const { cookie } = await signIn(stand, name);
  return await fetch(`${stand.host.url}/page/stream`, { headers: { cookie }, signal });
};

const page = (name: string, run: Attack["run"]): Attack => ({
  ...{ class: "fairness", name, stage: "simulated", run },
});

/** Opens 200 streams of one caller, of which it reads nothing, beside another caller's. */
const unread = async (stand: Stand): Promise<void> => {
  const aborted = new AbortController();
  const { signal } = aborted;
  try {
    const streams = await Promise.all(many(200, () => streamOf(stand, "greedy", signal)));
    const open = streams.filter(({ status }) => status === 200).length;
    must(open > 0 && open < 200, `one caller has ${open} streams`);
    const other = await streamOf(stand, "reader", signal);
    must(other.status === 200, `another caller's stream was answered ${other.status}`);
    const first = await other.body?.getReader().read();
    must(new TextDecoder().decode(first?.value).includes("event: rows"), "another caller's stream has no rows");
  } finally {
    aborted.abort();
  }
};

const pages: readonly Attack[] = [
  page("200 streams of the page of one caller, who reads none of 2,000 rows", (stand) =>
    kept(
      stand,
      many(2_000, () => application(fresh("row"), { suspend: true })),
      0,
      () => unread(stand),
    ),
  ),
  page("rows of the page from 100 applications whose queue has 300 kB", async (stand) => {
    const objects = many(100, () =>
      application(fresh("row"), { suspend: true, batchSchedulerOptions: { queue: "q".repeat(300_000) } }),
    );
    return await kept(stand, objects, 1_000, async () => {
      const { cookie } = await signIn(stand, "reader");
      const answer = await fetch(`${stand.host.url}/page/rows`, { headers: { cookie } });
      const { length } = await answer.text();
      must(answer.status === 200 && length < 2_000_000, `answered ${answer.status} with ${length} characters`);
    });
  }),
  page("the page of an application with 30,000 confs, read all the time", async (stand) => {
    const sparkConf = Object.fromEntries(many(30_000, (at) => [`spark.a${at}`, "x"]));
    const object = application(fresh("row"), { suspend: true, sparkConf });
    return await kept(stand, [object], 0, async () => {
      const { cookie } = await signIn(stand, "reader");
      const path = `${stand.host.url}/page/app/SparkApplication/${attackers}/${object.metadata.name}`;
      for (const end = performance.now() + 5_000; performance.now() < end; await sleep(100)) {
        const answer = await fetch(path, { headers: { cookie } });
        await answer.arrayBuffer();
        must(answer.status < 500, `answered ${answer.status}`);
      }
    });
  }),
];

export const shares: readonly Attack[] = [...memories, ...rounds, ...pages];
