/** The driver's PodDisruptionBudget: a drain of its node waits for the driver's end. */
import { podDisruptionBudgets } from "../../kube/resources.ts";
import { type AuxiliaryObject, driverSelector, metadataOf, objectOf, type Subject } from "./object.ts";

/** Created where both the deployment and the application ask for it; named after the driver pod, as upstream's. */
export const disruptionBudgetObjects = (subject: Subject): readonly AuxiliaryObject[] => {
  const { name, spec, options, driverPodName } = subject;
  if (!options.driverPdb || spec.driverPodDisruptionBudget !== true) return [];
  const labels = { "sparkoperator.k8s.io/launched-by-spark-operator": "true" };
  const object = objectOf(podDisruptionBudgets, metadataOf(subject, { name: driverPodName, labels }), {
    minAvailable: 1,
    selector: { matchLabels: driverSelector(name) },
  });
  return [{ resource: podDisruptionBudgets, optional: true, object }];
};
