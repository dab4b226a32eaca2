/** Stand-ins for another controller without a lease: its Deployment, a pod of it, or nothing but its writes. */
import type { HttpResponse, Transport } from "../../shared/core/http.ts";
import type { Obj } from "../../shared/core/object.ts";

export const deploymentOf = (image: string): Obj => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "controllers", namespace: "default" },
  spec: {
    selector: { matchLabels: { app: "controllers" } },
    template: {
      metadata: { labels: { app: "controllers" } },
      spec: { containers: [{ name: "controller", image, args: ["--leader-elect=false"] }] },
    },
  },
});

export const controllerPod = (labels: Readonly<Record<string, string>>): Obj => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "controllers-0", namespace: "default", labels },
  spec: { containers: [{ name: "controller", image: "mirror/controllers:1" }] },
});

export const queueObject: Obj = {
  apiVersion: "scheduling.volcano.sh/v1beta1",
  kind: "Queue",
  metadata: { name: "q" },
  spec: { weight: 1 },
};

/** Writes the status of the queue `q` under a field manager. */
export const writeStatus = (transport: Transport, agent: string): Promise<HttpResponse> =>
  transport.send({
    method: "PATCH",
    path: "/apis/scheduling.volcano.sh/v1beta1/queues/q/status",
    headers: { "content-type": "application/merge-patch+json", "user-agent": agent },
    body: JSON.stringify({ status: { state: "Open", pending: 1 } }),
    timeoutMs: 1_000,
  });
