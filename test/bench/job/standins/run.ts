/**
 * A process of its own that stands in for Volcano's scheduler and for kubelets: pods that have come are Running at once, those that are told to
 * leave are gone. With --groups it lets groups in, and as that scheduler does, no pod of a gang comes to run before as many are there as the group
 * asks for. It only sets statuses; nothing is bound, and nothing runs.
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

/** The pods of one group that are there, and how many there have to be. */
type Gang = { least: number; readonly pods: Map<string, Seen> };

const gangs = new Map<string, Gang>();

const gangOf = (namespace: string, group: string): Gang => {
  const id = `${namespace}/${group}`;
  const gang = gangs.get(id) ?? { least: Number.POSITIVE_INFINITY, pods: new Map() };
  gangs.set(id, gang);
  return gang;
};

/** Of a pod's news, whose status is to be set now: its own, that of its whole gang, or nobody's yet. */
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

/** UIDs of pods that were told to run. */
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
