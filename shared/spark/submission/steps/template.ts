/** The executors' pod template, in a ConfigMap for the driver; as PodTemplateConfigMapStep. */
import { withVolume } from "../pods/pod.ts";
import type { Context, Contribution } from "./step.ts";

const folder = "/opt/spark/pod-template";
const file = "pod-spec-template.yml";
const key = "podspec-configmap-key";

export const executorTemplateConf = "spark.kubernetes.executor.podTemplateFile";

export const template = ({ identity, executorTemplate }: Context): Contribution => {
  if (executorTemplate === undefined) return {};
  const name = `${identity.prefix}-driver-podspec-conf-map`;
  return {
    pod: (pod) =>
      withVolume(
        pod,
        { name: "pod-template-volume", configMap: { name, items: [{ key, path: file }] } },
        { name: "pod-template-volume", mountPath: folder },
      ),
    confs: { [executorTemplateConf]: `${folder}/${file}` },
    objects: [
      { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, immutable: true, data: { [key]: executorTemplate } },
    ],
  };
};
