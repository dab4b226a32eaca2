/** All auxiliary objects of a run, and which of them end with it. */

import type { Resource } from "../../core/object.ts";
import { workloads } from "../../kube/kueue.ts";
import { httpRoutes, ingresses, podDisruptionBudgets } from "../../kube/resources.ts";
import type { SparkApplicationSpec } from "../schema/application.ts";
import { volcanoPodGroups } from "../schema/resource.ts";
import { withDefaults } from "../schema/rules.ts";
import type { PlannedPods } from "../submission/planned-pods.ts";
import { identityFor } from "../submission/submit.ts";
import { batchSchedulerObjects, coschedulingPodGroups, withBatchScheduler } from "./batch-scheduler.ts";
import { driverPortObjects, uiObjects, withProxy } from "./ingress.ts";
import { type AuxiliaryObject, driverSelector, metadataOf, objectOf, type Subject } from "./object.ts";

/** Created where both the deployment and the application ask for it; named after the driver pod, as upstream's. */
const disruptionBudgetObjects = (subject: Subject): readonly AuxiliaryObject[] => {
  const { name, spec, options, driverPodName } = subject;
  if (!options.driverPdb || spec.driverPodDisruptionBudget !== true) return [];
  const labels = { "sparkoperator.k8s.io/launched-by-spark-operator": "true" };
  const object = objectOf(podDisruptionBudgets, metadataOf(subject, { name: driverPodName, labels }), {
    minAvailable: 1,
    selector: { matchLabels: driverSelector(name) },
  });
  return [{ resource: podDisruptionBudgets, optional: true, object }];
};

/** Kinds that only some applications have: they are listed only for applications that had one. */
export const rareKinds = {
  ingress: ingresses,
  route: httpRoutes,
  driverPdb: podDisruptionBudgets,
  volcano: volcanoPodGroups,
  coscheduling: coschedulingPodGroups,
  growth: workloads,
} as const satisfies Readonly<Record<string, Resource>>;

export type RareKind = keyof typeof rareKinds;

const isRare = (name: string): name is RareKind => Object.hasOwn(rareKinds, name);

export const rareNames: readonly RareKind[] = Object.keys(rareKinds).filter(isRare);

/** kind → true when it ends with the run, as it holds capacity or drains back; the rest stays with its owner. */
export const endsWithRun: Readonly<Record<RareKind, boolean>> = {
  ingress: false,
  route: false,
  driverPdb: true,
  volcano: true,
  coscheduling: true,
  growth: true,
};

type Of = Pick<Subject, "name" | "namespace" | "uid" | "spec" | "options">;

/** An attempt's subject without the driver's name, which only a submission gives. Its spec is the submitted one. */
export const subjectOf = (of: Of, attempt: number): Omit<Subject, "driverPodName"> => {
  const { submissionId, applicationId } = identityFor(of, attempt);
  const subject = { ...of, attempt, submissionId, applicationId };
  return { ...subject, spec: prepared(subject) };
};

/** The submitted spec: prepared for its batch scheduler and its ingress. */
export const prepared = (subject: Omit<Subject, "driverPodName">): SparkApplicationSpec => {
  const spec = withDefaults(subject.spec);
  return withProxy(withBatchScheduler({ ...subject, spec }), subject);
};

/** Objects that must exist before the driver. `subject.spec` is the prepared one, here and below. */
export const preDriverObjectsOf = (subject: Subject, planned: PlannedPods): readonly AuxiliaryObject[] => [
  ...disruptionBudgetObjects(subject),
  ...batchSchedulerObjects(subject, planned),
];

/** Services and ingresses of a driver that has begun. */
export const postStartObjectsOf = (subject: Subject): readonly AuxiliaryObject[] => [
  ...uiObjects(subject),
  ...driverPortObjects(subject),
];

/** The rare kinds among these objects. */
export const rareIn = (companions: readonly AuxiliaryObject[]): readonly RareKind[] =>
  rareNames.filter((name) => companions.some(({ resource }) => resource === rareKinds[name]));
