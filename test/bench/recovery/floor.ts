/** The same requests without Rekindle: the minimum for an API server and a client on this machine. */
import type { Api } from "../../real/cluster/api.ts";
import { each } from "../../support/parallel.ts";
import { collection } from "../kubelet.ts";
import { instant } from "./standins.ts";

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

/** Returns the seconds of `count` POSTs, 16 at a time. */
export const barePosts = async (api: Api, namespace: string, count: number): Promise<number> => {
  const names = Array.from({ length: count }, (_, index) => `posted-${index}`);
  const began = instant();
  await each(names, (name) => posted(api, namespace, name));
  return (instant() - began) / 1_000;
};
