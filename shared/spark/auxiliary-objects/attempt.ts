/** The objects of one attempt of an application, without a cluster. Pure. */
import type { Obj } from "../../core/object.ts";
import type { Rendered, RenderedCase } from "../../kube/forecast.ts";
import { parseWith } from "../schema/rules.ts";
import { submit } from "../submission/submit.ts";
import { postStartObjectsOf, preDriverObjectsOf, subjectOf } from "./all.ts";
import type { Options } from "./options.ts";

/** The API server as pods reach it. */
export const inCluster = "https://kubernetes.default.svc";

/**
 * Renders the objects of one attempt in the order of their creation; those that follow the driver's start come last.
 * The submission time is 0, so that the same input renders the same text.
 */
export const renderedAttempt = (application: Obj, { attempt, uid, options }: RenderedCase<Options>): Rendered => {
  const read = parseWith(options.sparkDefaults, application);
  if (!read.ok) return { refused: read.message };
  const { name, namespace = "default", labels = {}, annotations = {} } = application.metadata;
  const app = { name, namespace, uid, labels, annotations };
  const bare = subjectOf({ name, namespace, uid, spec: read.spec, options }, attempt);
  const made = submit({ app, spec: bare.spec, attempt, submittedAt: 0, apiServer: inCluster });
  if ("refused" in made) return made;
  const subject = { ...bare, driverPodName: made.driverPodName };
  const guards = preDriverObjectsOf(subject, made.planned).map(({ object }) => object);
  const doors = postStartObjectsOf(subject).map(({ object }) => object);
  return { objects: [...made.before, ...guards, made.driver, ...doors], notes: made.notes() };
};
