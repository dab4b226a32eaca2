/** The pods with which the run of a subject begins. */
import type { Subject } from "../../../../shared/spark/auxiliary-objects/object.ts";
import type { PlannedPods } from "../../../../shared/spark/submission/planned-pods.ts";
import { submit } from "../../../../shared/spark/submission/submit.ts";

export const plannedOf = ({
  name,
  namespace,
  uid,
  spec,
}: Pick<Subject, "name" | "namespace" | "uid" | "spec">): PlannedPods => {
  const apiServer = "https://kubernetes.default.svc";
  const made = submit({ app: { name, namespace, uid }, spec, attempt: 1, submittedAt: 0, apiServer });
  if ("refused" in made) throw new Error(made.refused);
  return made.planned;
};
