/** A PodGroup for Volcano, when the confs ask for Spark's own step for it; as VolcanoFeatureStep. */
import { isRecord } from "../../../kube/responses.ts";
import type { Conf } from "../../configuration/conf.ts";
import { listOf } from "../../configuration/conf.ts";
import type { Context, Contribution } from "./step.ts";

export const volcanoStep = "org.apache.spark.deploy.k8s.features.VolcanoFeatureStep";
export const podGroupFile = "spark.kubernetes.scheduler.volcano.podGroupTemplateFile";
export const customStepsConf = "spark.kubernetes.driver.pod.featureSteps";

const asksFor = (conf: Conf): boolean => listOf(conf.get(customStepsConf)).includes(volcanoStep);

const groupOf = (applicationId: string): string => `${applicationId}-podgroup`;

/** Adds a pod of either role to the group. */
export const volcanoGroup = (applicationId: string): Contribution => ({
  pod: (pod) => ({
    ...pod,
    metadata: {
      ...pod.metadata,
      annotations: { ...pod.metadata.annotations, "scheduling.k8s.io/group-name": groupOf(applicationId) },
    },
  }),
});

export const volcano = ({ applicationId, conf, namespace, podGroup }: Context): Contribution => {
  if (!asksFor(conf)) return {};
  const metadata = isRecord(podGroup?.["metadata"]) ? podGroup["metadata"] : {};
  const spec = isRecord(podGroup?.["spec"]) ? podGroup["spec"] : {};
  return {
    ...volcanoGroup(applicationId),
    first: [
      {
        apiVersion: "scheduling.volcano.sh/v1beta1",
        kind: "PodGroup",
        metadata: { ...metadata, name: groupOf(applicationId), namespace },
        spec,
      },
    ],
  };
};
