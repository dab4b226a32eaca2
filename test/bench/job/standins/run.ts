/**
 * A process of its own that stands in for Volcano's scheduler and for kubelets: groups are let in when it is told to (--groups), pods that have come are
 * Running at once, those that are told to leave are gone. It only sets statuses; nothing is bound, and nothing runs.
 */
import { parseArgs } from "node:util";
import * as z from "zod";
import { type Api, openApi } from "../../../cluster/node/api.ts";
import { asked, metadata } from "../../../support/standins.ts";

const seen = z.object({
  metadata,
  spec: z.looseObject({ nodeName: z.string().default(""), schedulerName: z.string().default("") }),
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

const scheduler = async (api: Api, { metadata: meta, status }: Seen): Promise<void> => {
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
api.follow<Followed>("/api/v1/pods", each(kubelet));
