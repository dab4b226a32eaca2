/** Creates SparkApplications for the fairness benchmark. */
import { setTimeout as sleep } from "node:timers/promises";
import { sparkPi } from "../support/pi.ts";

/** Applications of the small tenant per round, and clients that create them. */
export const few = 10;

const path = (namespace: string): string =>
  `/apis/sparkoperator.k8s.io/v1beta2/namespaces/${namespace}/sparkapplications`;

const post = async (url: string, namespace: string, name: string): Promise<void> => {
  const { metadata, ...rest } = sparkPi(name, { executor: { instances: 1, cores: 1, memory: "512m" } });
  const body = JSON.stringify({ ...rest, metadata: { ...metadata, namespace } });
  const answer = await fetch(`${url}${path(namespace)}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  if (answer.status !== 201) throw new Error(`create ${namespace}/${name}: ${await answer.text()}`);
  await answer.arrayBuffer();
};

/**
 * Posts `count` applications of a tenant by ten clients to the server at `url`. With `perSecond` each client keeps this
 * rate, else it posts one after the other. Throws when one is refused.
 */
export const postAll = async (
  url: string,
  namespace: string,
  word: string,
  count: number,
  perSecond = Number.POSITIVE_INFINITY,
): Promise<void> => {
  const indices = Array.from({ length: count }, (_, at) => at).values();
  const began = performance.now();
  const client = async (): Promise<void> => {
    let posted = 0;
    for (const at of indices) {
      await post(url, namespace, `${word}-${at}`);
      posted += 1;
      const early = began + (1000 * posted) / perSecond - performance.now();
      if (early > 0) await sleep(early);
    }
  };
  await Promise.all(Array.from({ length: few }, client));
};
