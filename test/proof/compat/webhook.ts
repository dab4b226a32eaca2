/** Compares upstream's operator with its webhook to us, by the objects in a cluster for the same SparkApplication. */
import * as z from "zod";
import { parseSpec } from "../../../shared/spark/schema/rules.ts";
import { submit } from "../../../shared/spark/submission/submit.ts";
import type { Json } from "./compare.ts";
import { differences, isRecord } from "./compare.ts";
import type { Golden, Recorded } from "./golden.ts";
import { compared, executorIn, golden, labelOf, recalled, stored, submitted, submitterOf } from "./golden.ts";
import { toldBy } from "./operator.ts";
import type { Outcome } from "./outcome.ts";
import { outcomeOf } from "./outcome.ts";
import { driverIn, ofDriver } from "./ownership.ts";
import { subtracted } from "./subtracted.ts";

/** Fields of a role that only the webhook writes into pods. */
const webhookFields = [
  ...["env", "envFrom", "configMaps", "ports", "hostNetwork", "hostAliases", "initContainers", "sidecars", "dnsConfig"],
  ...["priorityClassName", "schedulerName", "nodeSelector", "affinity", "tolerations", "memoryLimit", "gpu"],
  ...["lifecycle", "securityContext", "podSecurityContext", "terminationGracePeriodSeconds", "shareProcessNamespace"],
];

const plainPod = (pod: Json): Json => {
  const mounts = z.array(z.looseObject({ name: z.string() })).safeParse(pod["volumeMounts"]);
  const scratch = (mounts.data ?? []).filter(({ name }) => name.startsWith("spark-local-dir-"));
  const kept = Object.entries(pod).filter(([key]) => !webhookFields.includes(key));
  return { ...Object.fromEntries(kept), ...(mounts.success ? { volumeMounts: scratch } : {}) };
};

/** Returns the application without the executor settings that upstream leaves to its webhook. */
const plain = (application: Recorded): Recorded => {
  const {
    batchScheduler: _scheduler,
    sparkConfigMap: _spark,
    hadoopConfigMap: _hadoop,
    monitoring: _monitoring,
    ...spec
  } = z.looseObject({ executor: z.looseObject({}) }).parse(application["spec"]);
  return { ...application, spec: { ...spec, executor: plainPod(spec.executor) } };
};

type Ours = { readonly objects: readonly Json[] } | { readonly refused: string };

/** Submits as the recorded machine would: with its user, its Spark version and its API server address. */
const ourObjects = (from: Golden, application: Recorded): Ours => {
  const { name, namespace, uid, labels = {} } = application.metadata;
  const parsed = parseSpec(application);
  if (!parsed.ok) return { refused: parsed.message };
  const { version, user, apiServer } = submitterOf(from);
  const spec = { ...parsed.spec, sparkVersion: version };
  const app = { name, namespace, uid, labels };
  const result = submit({ app, spec, attempt: 1, submittedAt: 0, apiServer, user });
  return "refused" in result ? result : { objects: [result.driver, ...result.before] };
};

const isTemplate = (object: Json): boolean => isRecord(object["data"]) && "podspec-configmap-key" in object["data"];

const templateIn = (objects: readonly Json[]): Json => {
  const map = objects.find(isTemplate);
  const data = isRecord(map?.["data"]) ? map["data"] : {};
  const parsed: unknown = JSON.parse(`${data["podspec-configmap-key"] ?? "{}"}`);
  return isRecord(parsed) ? parsed : {};
};

/** Takes the executor template from the plain application: upstream's webhook changes executors, not their template. */
export const webhookOutcome = (name: string, file: string): Outcome => {
  const from = golden(file);
  const ours = ourObjects(from, from.application);
  const bare = ourObjects(from, plain(from.application));
  if ("refused" in ours)
    return outcomeOf(name, "webhook", [{ path: "refused", ours: ours.refused, theirs: "accepted" }]);
  if ("refused" in bare)
    return outcomeOf(name, "webhook", [{ path: "refused", ours: bare.refused, theirs: "accepted" }]);
  const told = new Set(toldBy(from).confs.map(([key]) => key));
  const objects = [...ours.objects.filter((object) => !isTemplate(object)), ...bare.objects.filter(isTemplate)];
  const mine = objects.map((object) => subtracted(stored(object), from.application.metadata.name, told));
  const theirs = submitted(from).map(recalled);
  const driver = driverIn(theirs);
  return outcomeOf(
    name,
    "webhook",
    compared(
      mine,
      theirs.map((object) => ofDriver(object, driver)),
    ),
  );
};

/** Compares an executor that the webhook has changed with the template of our driver's executors. */
export const executorOutcome = (name: string, file: string): Outcome | undefined => {
  const from = golden(file);
  const theirs = executorIn(from);
  if (theirs === undefined) return undefined;
  const ours = ourObjects(from, from.application);
  if ("refused" in ours) return outcomeOf(name, "template", [{ path: "refused", ours: ours.refused, theirs: "" }]);
  const pod = { apiVersion: "v1", kind: "Pod", ...templateIn(ours.objects) };
  return outcomeOf(name, "template", differences(stored(pod), recalled(theirs), labelOf(theirs)));
};
