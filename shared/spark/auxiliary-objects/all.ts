/** All that goes with a run beside what Spark itself needs, and what of it ends with the run. */
import type { Resource } from "../../core/object.ts";
import { ingresses, podDisruptionBudgets } from "../../kube/resources.ts";
import type { SparkApplicationSpec } from "../schema/application.ts";
import { withDefaults } from "../schema/defaults.ts";
import { identityFor } from "../submission/submit.ts";
import { arranged, batchSchedulerObjects, coschedulingPodGroups, volcanoPodGroups } from "./batch-scheduler.ts";
import { disruptionBudgetObjects } from "./disruption-budget.ts";
import { driverPortObjects } from "./driver-ports.ts";
import type { AuxiliaryObject, Subject } from "./object.ts";
import { uiObjects, withProxy } from "./ui.ts";

/** Kinds that only some applications have made: they are looked for only where they were made. */
export const rareKinds = {
  ingress: ingresses,
  driverPdb: podDisruptionBudgets,
  volcano: volcanoPodGroups,
  coscheduling: coschedulingPodGroups,
} as const satisfies Readonly<Record<string, Resource>>;

export type RareKind = keyof typeof rareKinds;

const isRare = (name: string): name is RareKind => Object.hasOwn(rareKinds, name);

export const rareNames: readonly RareKind[] = Object.keys(rareKinds).filter(isRare);

/** What holds capacity or drains back is taken away when the run ends; the rest stays as long as the application. */
export const endsWithRun: Readonly<Record<RareKind, boolean>> = {
  ingress: false,
  driverPdb: true,
  volcano: true,
  coscheduling: true,
};

type Of = Pick<Subject, "name" | "namespace" | "uid" | "spec" | "options">;

/** All of an attempt's subject but what only a submission gives: the driver's name. Its spec is as it is submitted. */
export const subjectOf = (of: Of, attempt: number): Omit<Subject, "driverPodName"> => {
  const { submissionId, applicationId } = identityFor(of, attempt);
  const subject = { ...of, submissionId, applicationId };
  return { ...subject, spec: prepared(subject) };
};

/** The spec as it is submitted: for its batch scheduler, and behind its ingress. */
export const prepared = (subject: Omit<Subject, "driverPodName">): SparkApplicationSpec => {
  const spec = withDefaults(subject.spec);
  return withProxy(arranged({ ...subject, spec }), subject);
};

/** What must be there before the driver is. `subject.spec` is the prepared one, here and below. */
export const preDriverObjectsOf = (subject: Subject): readonly AuxiliaryObject[] => [
  ...disruptionBudgetObjects(subject),
  ...batchSchedulerObjects(subject),
];

/** The ways to a driver that has begun. */
export const postStartObjectsOf = (subject: Subject): readonly AuxiliaryObject[] => [
  ...uiObjects(subject),
  ...driverPortObjects(subject),
];

/** Which rare kinds are among them. */
export const rareIn = (companions: readonly AuxiliaryObject[]): readonly RareKind[] =>
  rareNames.filter((name) => companions.some(({ resource }) => resource === rareKinds[name]));
