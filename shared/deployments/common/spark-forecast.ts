/** The submissions that Rekindle would make of Spark's objects, without a cluster. Pure. */
import type { Forecast, Rendered, Rendering } from "../../cli/io/tools.ts";
import { isRecord } from "../../core/json.ts";
import type { Obj } from "../../core/object.ts";
import { postStartObjectsOf, preDriverObjectsOf, subjectOf } from "../../spark/auxiliary-objects/all.ts";
import type { Options } from "../../spark/auxiliary-objects/options.ts";
import { notesOfServer } from "../../spark/connect/ignored.ts";
import { configMap, serverPod, service } from "../../spark/connect/objects.ts";
import { readConnectSpec } from "../../spark/connect/read.ts";
import { parseWith, withConfDefaults } from "../../spark/schema/rules.ts";
import { submit } from "../../spark/submission/submit.ts";

type Case = Omit<Rendering, "settings"> & { readonly options: Options };

/** By kind: the application that an object submits. Other kinds submit none. */
const applications: Readonly<Record<string, (object: Obj) => Obj | undefined>> = {
  SparkApplication: (object) => object,
  ScheduledSparkApplication: (object) => {
    const spec = object.spec;
    const template = isRecord(spec) ? spec["template"] : undefined;
    const { labels = {}, name } = object.metadata;
    const metadata = { ...object.metadata, labels: { ...labels, "sparkoperator.k8s.io/scheduled-app-name": name } };
    return { ...object, kind: "SparkApplication", metadata, spec: template };
  },
};

const inCluster = "https://kubernetes.default.svc";

/**
 * Renders the objects of one attempt in the order of their creation; those that follow the driver's start come last.
 * The submission time is 0, so that the same input renders the same text.
 */
const submission = (application: Obj, { attempt, uid, options }: Case): Rendered => {
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

/** Renders a SparkConnect's ConfigMap, Service and server pod. */
const connection = (object: Obj, { uid, options }: Case): Rendered => {
  const read = readConnectSpec(object);
  if (!read.ok) return { refused: read.message };
  const { name, namespace = "default", labels = {} } = object.metadata;
  const spec = withConfDefaults(read.spec, options.sparkDefaults);
  const server = { name, namespace, labels, spec, apiServer: inCluster };
  const owner = { ...object, metadata: { ...object.metadata, namespace, uid, resourceVersion: "0" } };
  return {
    objects: [configMap(owner, server), service(owner, server), serverPod(owner, server, read.images)],
    notes: notesOfServer(owner, server, read.images),
  };
};

/** Renders an object as a host with these options would submit it. */
export const rendered = (object: Obj, of: Case): Rendered => {
  if (object.kind === "SparkConnect") return connection(object, of);
  const application = applications[object.kind]?.(object);
  if (application === undefined) return { refused: `a ${object.kind} is not rendered: it has no submission` };
  return submission(application, of);
};

/** The forecast of a Spark object: `options` have the deployment's confs. */
export const sparkForecast = (object: Obj, options: Options): Forecast => {
  if (object.kind !== "SparkConnect" && applications[object.kind] === undefined)
    return { refused: undefined, notes: [] };
  const name = object.metadata.name ?? "generated";
  const made = rendered({ ...object, metadata: { ...object.metadata, name } }, { attempt: 1, uid: "u", options });
  return "refused" in made ? { refused: made.refused, notes: [] } : { refused: undefined, notes: made.notes };
};
