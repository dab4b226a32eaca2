/** Another controller on a real cluster that holds no lease and is detectable only by its Ready pod. */
import { type Api, patienceMs } from "../cluster/api.ts";
import { must } from "./scene.ts";

const deployments = "/apis/apps/v1/namespaces/kube-system/deployments";
const theirs = "theirs";
const podsOfTheirs = "/api/v1/namespaces/kube-system/pods?labelSelector=app.kubernetes.io%2Fcomponent%3Dcontroller";

/**
 * Starts, in a namespace of administrators, a Deployment with the labels of kubeflow's chart and an image from a mirror, so that only its Ready pod
 * identifies it. Returns the function that deletes it and resolves when its pod is gone.
 */
export const operatorBegins = async (api: Api): Promise<() => Promise<void>> => {
  const labels = { "app.kubernetes.io/name": "spark-operator", "app.kubernetes.io/component": "controller" };
  const container = { name: "controller", image: "busybox:1.36", command: ["sleep", "3600"] };
  const { status, body } = await api.call("POST", deployments, {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: theirs, namespace: "kube-system" },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { terminationGracePeriodSeconds: 1, containers: [container] } },
    },
  });
  must(status === 201, `create the deployment: ${JSON.stringify(body)}`);
  await api.until(
    `${deployments}/${theirs}`,
    (one) => JSON.stringify(one.body).includes('"readyReplicas":1'),
    patienceMs,
  );
  return async () => {
    await api.call("DELETE", `${deployments}/${theirs}`);
    await api.until(podsOfTheirs, ({ body }) => JSON.stringify(body).includes('"items":[]'), patienceMs);
  };
};

/** Resolves when functions have stored a sign of the other controller in their shared record. */
export const isSeen = async (api: Api, sign: RegExp): Promise<void> => {
  await api.until("/apis/rekindle.dev/v1alpha1/checkpoints", ({ body }) => sign.test(JSON.stringify(body)), patienceMs);
};
