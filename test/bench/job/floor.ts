/** The work of the Jobs' benchmark by bare requests, in a namespace of its own: the least that it takes on this machine. */
import type { Api } from "../../real/cluster/api.ts";
import { each } from "../../support/parallel.ts";

const namespace = "floor";
const pods = `/api/v1/namespaces/${namespace}/pods`;
const configMaps = `/api/v1/namespaces/${namespace}/configmaps`;
const groups = `/apis/scheduling.volcano.sh/v1beta1/namespaces/${namespace}/podgroups`;
const merge = "application/merge-patch+json";

/** No step may be due for a pod of the floor, so it names no scheduler of Volcano. */
const pod = (name: string): object => ({
  metadata: { name },
  spec: { schedulerName: "none", restartPolicy: "Never", containers: [{ name: "c", image: "none" }] },
});

const record = (turn: number): object => ({ metadata: { name: "record" }, data: { turn: String(turn) } });

const group = (name: string): object => ({
  ...{ apiVersion: "scheduling.volcano.sh/v1beta1", kind: "PodGroup" },
  ...{ metadata: { name }, spec: { minMember: 1, queue: "default" } },
});

const must = async (api: Api, method: string, path: string, body?: object, type?: string): Promise<void> => {
  const reply = await api.call(method, path, body, type);
  if (reply.status >= 300) throw new Error(`the floor's ${method} ${path}: ${JSON.stringify(reply.body)}`);
};

const namesOf = (word: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${word}-${index}`);

const secondsOf = async (work: () => Promise<void>): Promise<number> => {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1_000;
};

/** Creates the namespace of the floor. */
export const founded = async (api: Api): Promise<void> => {
  await api.call("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
  const account = `/api/v1/namespaces/${namespace}/serviceaccounts/default`;
  await api.until(account, ({ status }) => status === 200, 20_000);
};

const createPods = (api: Api, names: readonly string[]): Promise<void> =>
  each(names, (name) => must(api, "POST", pods, pod(name)));

const deletePods = (api: Api, names: readonly string[]): Promise<void> =>
  each(names, (name) => must(api, "DELETE", `${pods}/${name}`, { gracePeriodSeconds: 0 }));

/** Returns the seconds in which pods are created, and those in which they are deleted and created once more. */
export const barePods = async (api: Api, count: number): Promise<{ readonly made: number; readonly again: number }> => {
  const names = namesOf("pod", count);
  const made = await secondsOf(() => createPods(api, names));
  const again = await secondsOf(async () => {
    await deletePods(api, names);
    await createPods(api, names);
  });
  await deletePods(api, names);
  return { made, again };
};

/** Returns the seconds in which jobs of one pod get their PodGroups and their pods. */
export const bareJobs = async (api: Api, count: number): Promise<number> => {
  const names = namesOf("job", count);
  const seconds = await secondsOf(() =>
    each(names, async (name) => {
      await must(api, "POST", groups, group(name));
      await must(api, "POST", pods, pod(name));
    }),
  );
  await deletePods(api, names);
  await each(names, (name) => must(api, "DELETE", `${groups}/${name}`));
  return seconds;
};

/** Returns the ms of each replacement of a pod: a record is patched, the pod is deleted, and one of its name is created. */
export const bareReplacements = async (api: Api, count: number): Promise<readonly number[]> => {
  await must(api, "POST", configMaps, record(0));
  const names = namesOf("replaced", count);
  await createPods(api, names);
  const took: number[] = [];
  for (const [turn, name] of names.entries())
    took.push(
      1_000 *
        (await secondsOf(async () => {
          await must(api, "PATCH", `${configMaps}/record`, record(turn + 1), merge);
          await deletePods(api, [name]);
          await must(api, "POST", pods, pod(name));
        })),
    );
  await deletePods(api, names);
  return took;
};
