/** Shared parts of stand-ins for other controllers: fields that they read, requests, and Volcano's first queues. */
import * as z from "zod";
import type { Api } from "../real/cluster/node/api.ts";

export const metadata = z.object({
  name: z.string(),
  namespace: z.string().default(""),
  uid: z.string(),
  resourceVersion: z.string(),
  deletionTimestamp: z.string().optional(),
  labels: z.record(z.string(), z.string()).default({}),
  annotations: z.record(z.string(), z.string()).default({}),
});

/** Sends a request. An object that is gone, exists already, or has changed comes round again by itself. */
export const asked = async (api: Api, ...call: Parameters<Api["call"]>): Promise<void> => {
  const { status, body } = await api.call(...call);
  if (status >= 400 && status !== 404 && status !== 409) console.error(`${call[1]}: ${JSON.stringify(body)}`);
};

/** The queues that Volcano's scheduler creates. */
export const firstQueues = ["root", "default"].map((name) => ({
  apiVersion: "scheduling.volcano.sh/v1beta1",
  kind: "Queue",
  metadata: { name },
  spec: { weight: 1 },
}));
