/**
 * A separate process that replaces Volcano's scheduler and kubelets: created pods are Running at once, deleted pods are
 * gone at once. With --groups it admits groups, and as with that scheduler no pod of a gang is Running before the gang
 * has its minimum of pods. It only writes statuses; nothing is bound, and nothing runs.
 */
import { parseArgs } from "node:util";
import * as z from "zod";
import { type Api, openApi } from "../../../real/cluster/node/api.ts";
import { asked, metadata } from "../../../support/standins.ts";

const seen = z.object({
  metadata,
  spec: z.looseObject({ minMember: z.number().default(0) }),
  status: z.looseObject({ phase: z.string().default("") }).default({ phase: "" }),
});

type Seen = z.infer<typeof seen>;
type Followed = { metadata: { uid: string; resourceVersion: string } };

const merge = "application/merge-patch+json";

const running = (container: string) => ({
  phase: "Running",
  podIP: "10.244.9.9",
  conditions: [{ type: "Ready", status: "True" }],
  containerStatuses: [
    {
      name: container,
      image: "none",
      imageID: "",
      restartCount: 0,
      ready: true,
      state: { running: { startedAt: "2026-01-01T00:00:00Z" } },
    },
  ],
});

const kubelet = async (api: Api, { metadata: meta, status }: Seen): Promise<void> => {
  const path = `/api/v1/namespaces/${meta.namespace}/pods/${meta.name}`;
  const options = { gracePeriodSeconds: 0, preconditions: { uid: meta.uid } };
  if (meta.deletionTimestamp !== undefined) return asked(api, "DELETE", path, options);
  if (status.phase === "Pending") return asked(api, "PATCH", `${path}/status`, { status: running("c") }, merge);
};

/** The existing pods of one group, and its minimum. */
type Gang = { least: number; readonly pods: Map<string, Seen> };

const gangs = new Map<string, Gang>();

const gangOf = (namespace: string, group: string): Gang => {
  const id = `${namespace}/${group}`;
  const gang = gangs.get(id) ?? { least: Number.POSITIVE_INFINITY, pods: new Map() };
  gangs.set(id, gang);
  return gang;
};

/** Returns the pods whose status must be set after a pod's change: the pod, its whole gang, or none yet. */
const ready = (one: Seen): readonly Seen[] => {
  const group = one.metadata.annotations["scheduling.k8s.io/group-name"];
  if (group === undefined) return [one];
  const gang = gangOf(one.metadata.namespace, group);
  const leaves = one.metadata.deletionTimestamp !== undefined;
  if (leaves) gang.pods.delete(one.metadata.name);
  else gang.pods.set(one.metadata.name, one);
  if (leaves) return [one];
  return gang.pods.size < gang.least ? [] : [...gang.pods.values()];
};

/** UIDs of pods whose status was set to Running. */
const started = new Set<string>();

const gangScheduler = async (api: Api, one: Seen): Promise<void> => {
  const due = ready(one).filter(
    ({ metadata: { uid, deletionTimestamp } }) => deletionTimestamp !== undefined || !started.has(uid),
  );
  for (const { metadata } of due) started.add(metadata.uid);
  await Promise.all(due.map((pod) => kubelet(api, pod)));
};

const scheduler = async (api: Api, { metadata: meta, spec, status }: Seen): Promise<void> => {
  gangOf(meta.namespace, meta.name).least = spec.minMember;
  if (meta.deletionTimestamp !== undefined || !["", "Pending"].includes(status.phase)) return;
  const path = `/apis/scheduling.volcano.sh/v1beta1/namespaces/${meta.namespace}/podgroups/${meta.name}`;
  await asked(api, "PATCH", path, { status: { phase: "Inqueue" } }, merge);
};

const { values } = parseArgs({
  options: { kubeconfig: { type: "string", default: "" }, groups: { type: "boolean", default: false } },
});
const api = await openApi(values.kubeconfig);
const each = (act: (api: Api, one: Seen) => Promise<void>) => {
  const put = (one: Followed): void => void act(api, seen.parse(one)).catch((error: unknown) => console.error(error));
  return { put, gone: () => {}, all: (all: readonly Followed[]) => all.forEach(put) };
};
if (values.groups) api.follow<Followed>("/apis/scheduling.volcano.sh/v1beta1/podgroups", each(scheduler));
api.follow<Followed>("/api/v1/pods", each(values.groups ? gangScheduler : kubelet));
