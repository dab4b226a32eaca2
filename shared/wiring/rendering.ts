/** What a submission would create, and what would keep it from being made: the pure rooms, asked without a cluster. */
import type { Rendered } from "../cli/tools.ts";
import type { Obj } from "../core/object.ts";
import { isRecord } from "../kube/answers.ts";
import { configMap, serverPod, service } from "../spark/connect/objects.ts";
import { readSpec } from "../spark/connect/read.ts";
import { parseSpec } from "../spark/schema/parse.ts";
import { submit } from "../spark/submission/submit.ts";

export type Rendering = { readonly attempt: number; readonly uid: string };

/** A kind → the application that an object of it would run; undefined for what submits none. */
const applications: Readonly<Record<string, (object: Obj) => Obj | undefined>> = {
  SparkApplication: (object) => object,
  ScheduledSparkApplication: (object) => {
    const spec = object["spec"];
    const template = isRecord(spec) ? spec["template"] : undefined;
    const { labels = {}, name } = object.metadata;
    const metadata = { ...object.metadata, labels: { ...labels, "sparkoperator.k8s.io/scheduled-app-name": name } };
    return { ...object, kind: "SparkApplication", metadata, spec: template };
  },
};

const inCluster = "https://kubernetes.default.svc";

/** The objects of one attempt, the driver pod last. The time of submission is left at 0, so that the same input gives the same text. */
const submission = (application: Obj, { attempt, uid }: Rendering): Rendered => {
  const read = parseSpec(application);
  if (!read.ok) return { refused: read.message };
  const { name, namespace = "default", labels = {}, annotations = {} } = application.metadata;
  const app = { name, namespace, uid, labels, annotations };
  const made = submit({ app, spec: read.spec, attempt, submittedAt: 0, apiServer: inCluster });
  return "refused" in made ? made : { objects: [...made.before, made.driver], notes: made.notes };
};

/** A SparkConnect's config map, service and server pod. */
const connection = (object: Obj, { uid }: Rendering): Rendered => {
  const read = readSpec(object);
  if (!read.ok) return { refused: read.message };
  const { name, namespace = "default", labels = {} } = object.metadata;
  const server = { name, namespace, labels, spec: read.spec, apiServer: inCluster };
  const owner = { ...object, metadata: { ...object.metadata, namespace, uid, resourceVersion: "0" } };
  return {
    objects: [configMap(owner, server), service(owner, server), serverPod(owner, server, read.images)],
    notes: [],
  };
};

export const render = (object: Obj, rendering: Rendering): Rendered => {
  if (object.kind === "SparkConnect") return connection(object, rendering);
  const application = applications[object.kind]?.(object);
  if (application === undefined) return { refused: `a ${object.kind} is not rendered: it makes no submission` };
  return submission(application, rendering);
};

/** What would be said of it at submission; undefined when nothing, or when it is none of ours. */
export const problemWith = (object: Obj): string | undefined => {
  const isOurs = object.kind === "SparkConnect" || applications[object.kind] !== undefined;
  if (!isOurs || !object.apiVersion.startsWith("sparkoperator.k8s.io/")) return undefined;
  const name = object.metadata.name ?? "generated";
  const rendered = render({ ...object, metadata: { ...object.metadata, name } }, { attempt: 1, uid: "u" });
  return "refused" in rendered ? rendered.refused : undefined;
};
