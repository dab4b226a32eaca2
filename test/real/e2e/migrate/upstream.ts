/**
 * Shared parts of the stand-ins of upstream's controllers: Deployments that stay, a leader under upstream's account,
 * and a picture of the configuration that a migration may change.
 */
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import type { Stored } from "../../../../shared/core/object.ts";
import { isStored } from "../../../../shared/kube/responses.ts";
import { type Api, openApi } from "../../cluster/api.ts";
import type { Cluster } from "../../cluster/cluster.ts";

export const apply = async (cluster: Cluster, text: string): Promise<void> => {
  const { code, stderr } = await cluster.kubectl(["apply", "--server-side", "-f", "-"], { input: text });
  if (code !== 0) throw new Error(`kubectl apply: ${stderr}`);
};

/** JSON is YAML. */
export const applyAll = (cluster: Cluster, objects: readonly unknown[]): Promise<void> =>
  apply(cluster, objects.map((object) => JSON.stringify(object)).join("\n---\n"));

const lease = z.looseObject({
  spec: z.looseObject({
    holderIdentity: z.string().default(""),
    leaseDurationSeconds: z.number().default(15),
    renewTime: z.string().default(""),
  }),
});
const counted = z.looseObject({ status: z.looseObject({ replicas: z.number().default(0) }).default({ replicas: 0 }) });

export type Leading = {
  readonly home: string;
  readonly account: string;
  /** Name of its lease, and of the Deployment whose pods it needs to lead. */
  readonly lock: string;
  readonly controller: string;
};

/** Renews the lease once under upstream's account, if it holds the lease or the lease is free. */
const beat = async (admin: Api, own: Api, { home, lock, controller }: Leading): Promise<boolean> => {
  const deployment = await admin.call("GET", `/apis/apps/v1/namespaces/${home}/deployments/${controller}`);
  const leasePath = `/apis/coordination.k8s.io/v1/namespaces/${home}/leases`;
  if (counted.parse(deployment.body).status.replicas === 0) return false;
  const now = new Date().toISOString().replace("Z", "000Z");
  const spec = { holderIdentity: "upstream", leaseDurationSeconds: 15, acquireTime: now, renewTime: now };
  const found = await own.call("GET", `${leasePath}/${lock}`);
  if (found.status === 404) {
    const made = await own.call("POST", leasePath, { metadata: { name: lock }, spec });
    return made.status === 201;
  }
  const { holderIdentity, leaseDurationSeconds, renewTime } = lease.parse(found.body).spec;
  const isFree = holderIdentity === "" || Date.parse(renewTime) + leaseDurationSeconds * 1_000 < Date.now();
  if (!isFree && holderIdentity !== "upstream") return false;
  const put = await own.call("PUT", `${leasePath}/${lock}`, { ...lease.parse(found.body), spec });
  return put.status === 200;
};

export type Leader = {
  /** A client under its own account. */
  readonly api: Api;
  /** True if its last renewal succeeded. */
  leads(): boolean;
  stop(): Promise<void>;
};

/** Starts to lead; renews once a second. */
export const lead = async (cluster: Cluster, leading: Leading): Promise<Leader> => {
  const api = await openApi(await cluster.kubeconfigOf(leading.home, leading.account));
  let stopped = false;
  let leads = false;
  const loop = (async () => {
    while (!stopped) {
      leads = await beat(cluster.api, api, leading).catch(() => false);
      await sleep(1_000);
    }
  })();
  for (let left = 60; !leads && left > 0; left--) await sleep(500);
  if (!leads) throw new Error("the stand-in of upstream does not lead");
  return {
    api,
    leads: () => leads,
    stop: async () => {
      stopped = true;
      await loop;
      api.close();
    },
  };
};

const named = z.object({ metadata: z.looseObject({ name: z.string() }) });
const listed = z.object({ items: z.array(z.looseObject({ metadata: named.shape.metadata, webhooks: z.unknown() })) });

/** Returns upstream's webhook configurations and replicas, without the fields that the API server counts. */
export const pictureOf = async ({ api }: Cluster, home: string): Promise<string> => {
  const hooksOf = async (plural: string): Promise<unknown> => {
    const { body } = await api.call("GET", `/apis/admissionregistration.k8s.io/v1/${plural}`);
    return listed.parse(body).items.map(({ metadata, webhooks }) => [metadata.name, webhooks]);
  };
  const { body } = await api.call("GET", `/apis/apps/v1/namespaces/${home}/deployments`);
  const replicas = z
    .object({
      items: z.array(z.object({ metadata: z.object({ name: z.string() }), spec: z.object({ replicas: z.number() }) })),
    })
    .parse(body)
    .items.map(({ metadata, spec }) => `${metadata.name} ${spec.replicas}`);
  return JSON.stringify([
    await hooksOf("mutatingwebhookconfigurations"),
    await hooksOf("validatingwebhookconfigurations"),
    replicas,
  ]);
};

/** Reads an object as it is stored. */
export const stored = async (api: Api, path: string): Promise<Stored> => {
  const { status, body } = await api.call("GET", path);
  if (status !== 200 || !isStored(body)) throw new Error(`${path}: ${JSON.stringify(body)}`);
  return body;
};
