/** The same requests without Rekindle: the minimum for an API server and a client on this machine. */
import type { Api } from "../../real/cluster/api.ts";
import { type Api as AgentApi, openApi } from "../../real/cluster/node/api.ts";
import { each } from "../../support/parallel.ts";
import { collection } from "../kubelet.ts";
import { atOnce, executorStatus, instant, lanes, merge } from "./standins.ts";

const podsOf = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods`;

const body = (name: string): object => ({
  metadata: { name, labels: { "spark-role": "executor", floor: "true" } },
  spec: {
    schedulerName: "none",
    restartPolicy: "Never",
    containers: [{ name: "spark-kubernetes-executor", image: "spark" }],
  },
});

const posted = async (api: Api, namespace: string, name: string): Promise<void> => {
  const reply = await api.call("POST", podsOf(namespace), body(name));
  if (reply.status !== 201) throw new Error(`${name}: ${JSON.stringify(reply.body)}`);
};

/**
 * Returns the milliseconds of LIST (an application's pods), GET (the application) and POST (a pod), one after the
 * other.
 */
export const bareLoss = async (api: Api, namespace: string, app: string, index: number): Promise<number> => {
  const began = instant();
  const selector = encodeURIComponent(`sparkoperator.k8s.io/app-name=${app}`);
  await api.call("GET", `${podsOf("default")}?labelSelector=${selector}`);
  await api.call("GET", `${collection}/${app}`);
  await posted(api, namespace, `floor-${index}`);
  return instant() - began;
};

const namesOf = (kind: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${kind}-${index}`);

/** Returns the seconds of `count` POSTs, 16 at a time. */
export const barePosts = async (api: Api, namespace: string, count: number): Promise<number> => {
  const began = instant();
  await each(namesOf("posted", count), (name) => posted(api, namespace, name));
  return (instant() - began) / 1_000;
};

type WatchedPod = {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
  readonly status: { readonly phase: string };
};

/** Resolves with the instant of the last answer when a watch has seen as many pods fail, and as many have been posted, 16 at a time. */
const postedAsSeen = (watching: AgentApi, api: Api, namespace: string, count: number): Promise<number> =>
  new Promise((resolve, reject) => {
    const lane = lanes(16);
    const seen = new Set<string>();
    let left = count;
    const put = ({ metadata: { name }, status }: WatchedPod): void => {
      if (status.phase !== "Failed" || seen.has(name)) return;
      seen.add(name);
      lane(() => posted(api, namespace, `again-${name}`)).then(() => {
        left -= 1;
        if (left === 0) resolve(instant());
      }, reject);
    };
    watching.follow<WatchedPod>(podsOf(namespace), { all: (pods) => pods.forEach(put), put, gone: () => {} });
  });

export type MassLoss = {
  /** Seconds from the first visible loss to the last POST. */
  readonly all: number;
  /** Seconds from the last visible loss to the last POST. */
  readonly rest: number;
};

/**
 * Fails the pods that `barePosts` has left, as the stand-ins fail executors, while a client that does nothing else posts another pod
 * for each that its watch shows as failed.
 */
export const bareMassLoss = async (
  kubeconfig: string,
  api: Api,
  namespace: string,
  count: number,
): Promise<MassLoss> => {
  const [watching, kubelet] = [await openApi(kubeconfig), await openApi(kubeconfig)];
  try {
    const last = postedAsSeen(watching, api, namespace, count);
    last.catch(() => {});
    const visible: number[] = [];
    const fail = async (name: string): Promise<void> => {
      const path = `${podsOf(namespace)}/${name}/status`;
      const reply = await kubelet.call("PATCH", path, { status: executorStatus("10.244.0.1", true) }, merge);
      if (reply.status !== 200) throw new Error(`${name}: ${JSON.stringify(reply.body)}`);
      visible.push(instant());
    };
    await each(namesOf("posted", count), fail, atOnce);
    const end = await last;
    const secondsSince = (from: number): number => Math.max(0, end - from) / 1_000;
    return { all: secondsSince(Math.min(...visible)), rest: secondsSince(Math.max(...visible)) };
  } finally {
    watching.close();
    kubelet.close();
  }
};
