/**
 * A stand-in for Volcano's scheduler: it holds the Lease, creates the queues, admits groups and binds pods round robin.
 * It checks no resources: every group is admitted.
 */
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { asked, firstQueues, metadata } from "../../../support/standins.ts";
import { type Api, openApi } from "../../cluster/node/api.ts";

const group = z.object({
  metadata,
  spec: z.looseObject({ minMember: z.number().default(0) }).default({ minMember: 0 }),
  status: z.looseObject({ phase: z.string().default("") }).default({ phase: "" }),
});

const pod = z.object({
  metadata,
  spec: z.looseObject({ schedulerName: z.string().default(""), nodeName: z.string().default("") }),
});

type Followed = { metadata: { uid: string; resourceVersion: string } };

const scheduling = "/apis/scheduling.volcano.sh/v1beta1";
const merge = "application/merge-patch+json";
const leases = "/apis/coordination.k8s.io/v1/namespaces/volcano-system/leases";

export type Scheduler = { readonly stop: () => Promise<void> };

const queuesMade = async (api: Api): Promise<void> => {
  for (const queue of firstQueues) {
    await asked(api, "POST", `${scheduling}/queues`, queue);
    await asked(
      api,
      "PATCH",
      `${scheduling}/queues/${queue.metadata.name}/status`,
      { status: { state: "Open" } },
      merge,
    );
  }
};

const leaseKept = async (api: Api, isOver: () => boolean): Promise<void> => {
  const renewed = () => ({
    holderIdentity: "stand-in",
    leaseDurationSeconds: 15,
    renewTime: new Date().toISOString().replace("Z", "000Z"),
  });
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "volcano-system" } };
  await asked(api, "POST", "/api/v1/namespaces", namespace);
  const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "vc-scheduler" } };
  await asked(api, "POST", leases, { ...lease, spec: renewed() });
  while (!isOver()) {
    await sleep(2_000);
    await asked(api, "PATCH", `${leases}/vc-scheduler`, { spec: renewed() }, merge).catch(() => {});
  }
};

/** Binds pods to the nodes by name until `stop`. */
export const startScheduler = async (kubeconfig: string, nodes: readonly string[]): Promise<Scheduler> => {
  const api = await openApi(kubeconfig);
  let over = false;
  let next = 0;
  const bound = new Map<string, Set<string>>();
  const least = new Map<string, number>();
  const told = new Set<string>();

  const tell = (namespace: string, name: string, phase: string): Promise<void> =>
    asked(api, "PATCH", `${scheduling}/namespaces/${namespace}/podgroups/${name}`, { status: { phase } }, merge);

  const whole = async (namespace: string, name: string): Promise<void> => {
    const key = `${namespace}/${name}`;
    if (told.has(key) || (bound.get(key)?.size ?? 0) < (least.get(key) ?? Number.POSITIVE_INFINITY)) return;
    told.add(key);
    await tell(namespace, name, "Running");
  };

  const admitted = async (one: Followed): Promise<void> => {
    const { metadata: meta, spec, status } = group.parse(one);
    least.set(`${meta.namespace}/${meta.name}`, spec.minMember);
    if (meta.deletionTimestamp !== undefined || !["", "Pending"].includes(status.phase)) return;
    told.delete(`${meta.namespace}/${meta.name}`);
    await tell(meta.namespace, meta.name, "Inqueue");
  };

  const placed = async (one: Followed): Promise<void> => {
    const { metadata: meta, spec } = pod.parse(one);
    if (spec.schedulerName !== "volcano" || spec.nodeName !== "" || meta.deletionTimestamp !== undefined) return;
    const node = nodes[next++ % nodes.length];
    const target = { apiVersion: "v1", kind: "Node", name: node };
    const body = { apiVersion: "v1", kind: "Binding", metadata: { name: meta.name, uid: meta.uid }, target };
    await asked(api, "POST", `/api/v1/namespaces/${meta.namespace}/pods/${meta.name}/binding`, body);
    const name = meta.annotations["scheduling.k8s.io/group-name"] ?? "";
    const key = `${meta.namespace}/${name}`;
    bound.set(key, (bound.get(key) ?? new Set()).add(meta.uid));
    await whole(meta.namespace, name);
  };

  const each = (act: (one: Followed) => Promise<void>) => {
    const put = (one: Followed): void =>
      void act(one).catch((error: unknown) => (over ? undefined : console.error(`scheduler: ${String(error)}`)));
    return { put, gone: () => {}, all: (all: readonly Followed[]) => all.forEach(put) };
  };

  await queuesMade(api);
  const leasing = leaseKept(api, () => over);
  api.follow<Followed>(`${scheduling}/podgroups`, each(admitted));
  api.follow<Followed>("/api/v1/pods", each(placed));
  return {
    stop: async () => {
      over = true;
      await leasing;
      api.close();
    },
  };
};
