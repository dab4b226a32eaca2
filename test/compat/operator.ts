/** Upstream's operator against ours: the same SparkApplication must give the same arguments, and the same stored objects. */
import { readFileSync } from "node:fs";
import * as z from "zod";
import type { SparkApplicationSpec } from "../../shared/spark/schema/application.ts";
import { parseSpec } from "../../shared/spark/schema/parse.ts";
import { argumentsOf } from "../../shared/spark/submission/arguments/argv.ts";
import { submit } from "../../shared/spark/submission/submit.ts";
import { callOf } from "./call.ts";
import type { Difference, Json } from "./compare.ts";
import { differences, isRecord } from "./compare.ts";
import type { Kind } from "./intended.ts";
import { normal } from "./normal.ts";
import type { Outcome } from "./outcome.ts";
import { outcomeOf } from "./outcome.ts";
import { parseProperties } from "./properties.ts";
import { asWritten, quantities, served } from "./served.ts";

const objectSchema = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({
    name: z.string(),
    namespace: z.string(),
    uid: z.string(),
    labels: z.record(z.string(), z.string()).optional(),
  }),
});

type Recorded = z.infer<typeof objectSchema>;

type Golden = {
  readonly application: Recorded;
  readonly spec: SparkApplicationSpec;
  readonly submissionId: string;
  readonly objects: readonly Recorded[];
};

const golden = (file: string): Golden => {
  const { items } = z.object({ items: z.array(objectSchema) }).parse(JSON.parse(readFileSync(file, "utf8")));
  const application = items.find(({ kind }) => kind === "SparkApplication");
  if (application === undefined) throw new Error(`${file} holds no SparkApplication`);
  const parsed = parseSpec(application);
  if (!parsed.ok) throw new Error(parsed.message);
  const { submissionID } = z.looseObject({ submissionID: z.string() }).parse(application["status"]);
  return { application, spec: parsed.spec, submissionId: submissionID, objects: items };
};

/** `spark-submit`'s arguments as the confs that they stand for; of two with one key the later wins. */
const recordedArguments = (file: string): Json => {
  const args = readFileSync(file, "utf8").replace(/\n$/, "").split("\n");
  const { line, proxyUser } = callOf({ sparkVersion: "", args, env: {}, files: {}, exitCode: 0, errors: [] });
  const { mainClass, resource, arguments: given, confs, options } = line;
  return { mainClass, resource, arguments: given, confs: Object.fromEntries(confs), options, proxyUser };
};

const ourArguments = ({ application, spec, submissionId }: Golden): Json => {
  const { name, namespace, labels = {} } = application.metadata;
  const told = argumentsOf({ name, namespace, labels, spec, submissionId });
  return { ...told, confs: Object.fromEntries(told.confs) };
};

export const argumentsOutcome = (name: string, file: string, argsFile: string): Outcome =>
  outcomeOf(name, "operator", differences(ourArguments(golden(file)), recordedArguments(argsFile), "arguments"));

/** Fields that only the webhook brings into pods. */
const webhookFields = [
  ...["env", "envFrom", "configMaps", "ports", "hostNetwork", "hostAliases", "initContainers", "sidecars", "dnsConfig"],
  ...[
    "priorityClassName",
    "schedulerName",
    "nodeSelector",
    "affinity",
    "tolerations",
    "memoryLimit",
    "gpu",
    "lifecycle",
  ],
  ...["securityContext", "podSecurityContext", "terminationGracePeriodSeconds", "shareProcessNamespace"],
];

const without = (pod: Json): Json => {
  const mounts = z.array(z.looseObject({ name: z.string() })).safeParse(pod["volumeMounts"]);
  const scratch = (mounts.data ?? []).filter(({ name }) => name.startsWith("spark-local-dir-"));
  const kept = Object.entries(pod).filter(([key]) => !webhookFields.includes(key));
  return { ...Object.fromEntries(kept), ...(mounts.success ? { volumeMounts: scratch } : {}) };
};

/** The application as upstream sees it where its webhook is not installed. */
const unmutated = (application: Recorded): Recorded => {
  const {
    batchScheduler: _scheduler,
    sparkConfigMap: _spark,
    hadoopConfigMap: _hadoop,
    ...spec
  } = z.looseObject({ driver: z.looseObject({}), executor: z.looseObject({}) }).parse(application["spec"]);
  return { ...application, spec: { ...spec, driver: without(spec.driver), executor: without(spec.executor) } };
};

/** Where the recorded driver found its API server: ours is given the same. */
const apiServer = ({ objects }: Golden): string => {
  const data = z.looseObject({ data: z.looseObject({ "spark.properties": z.string() }) });
  const maps = objects.flatMap((object) => data.safeParse(object).data ?? []);
  const master = maps.map((map) => parseProperties(map.data["spark.properties"])["spark.master"])[0];
  return (master ?? "").replace(/^k8s:\/\//, "");
};

type Ours = { readonly objects: readonly Json[]; readonly executor: Json } | { readonly refused: string };

const templateIn = (objects: readonly Json[]): Json => {
  const map = objects.find((object) => isRecord(object["data"]) && "podspec-configmap-key" in object["data"]);
  const data = isRecord(map?.["data"]) ? map["data"] : {};
  const parsed: unknown = JSON.parse(`${data["podspec-configmap-key"] ?? "{}"}`);
  return isRecord(parsed) ? parsed : {};
};

const ourObjects = (from: Golden, application: Recorded): Ours => {
  const { name, namespace, uid, labels = {} } = application.metadata;
  const parsed = parseSpec(application);
  if (!parsed.ok) return { refused: parsed.message };
  const result = submit({
    app: { name, namespace, uid, labels },
    spec: parsed.spec,
    attempt: 1,
    submittedAt: 0,
    apiServer: apiServer(from),
  });
  if ("refused" in result) return result;
  return { objects: [result.driver, ...result.before], executor: templateIn(result.before) };
};

const labelOf = (object: Json): string => {
  const metadata = isRecord(object["metadata"]) ? object["metadata"] : {};
  return `${object["kind"]} ${metadata["name"]}`;
};

const inGosForm = (key: string, value: unknown): unknown =>
  key === "requests" || key === "limits" ? quantities(value) : asTyped(value);

/** As Go's typed serialisation has it: quantities in one form, and no difference between empty resources and none. */
const asTyped = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(asTyped);
  if (!isRecord(value)) return value;
  const kept = Object.entries(value).filter(([key, item]) => !(key === "resources" && JSON.stringify(item) === "{}"));
  return Object.fromEntries(kept.map(([key, item]) => [key, inGosForm(key, item)]));
};

const comparable = (object: Json): Json => {
  const one = normal(object);
  if (one["kind"] !== "ConfigMap") return one;
  const plain = asTyped(one);
  return isRecord(plain) ? plain : one;
};

const byLabel = (objects: readonly Json[]): ReadonlyMap<string, Json> =>
  new Map(objects.map(comparable).map((object) => [labelOf(object), object]));

/** What a submission makes: the UI's service is made later by the controller, executors by the driver. */
const isSubmissions = ({ kind, metadata }: Recorded, application: string): boolean =>
  kind !== "SparkApplication" &&
  metadata.name !== `${application}-ui-svc` &&
  metadata.labels?.["spark-role"] !== "executor";

const compared = (ours: readonly Json[], theirs: readonly Json[]): readonly Difference[] => {
  const [mine, recorded] = [byLabel(ours.map(served)), byLabel(theirs.map(asWritten))];
  return [...new Set([...mine.keys(), ...recorded.keys()])].flatMap((label) =>
    differences(mine.get(label), recorded.get(label), label),
  );
};

export const objectsOutcome = (name: string, kind: Extract<Kind, "operator" | "webhook">, file: string): Outcome => {
  const recorded = golden(file);
  const ours = ourObjects(recorded, kind === "webhook" ? recorded.application : unmutated(recorded.application));
  if ("refused" in ours) return outcomeOf(name, kind, [{ path: "refused", ours: ours.refused, theirs: "accepted" }]);
  const theirs = recorded.objects.filter((object) => isSubmissions(object, recorded.application.metadata.name));
  return outcomeOf(name, kind, compared(ours.objects, theirs));
};

/** An executor that the webhook has mutated, against the template that our driver makes its executors from. */
export const executorOutcome = (name: string, file: string): Outcome | undefined => {
  const recorded = golden(file);
  const theirs = recorded.objects.find(({ metadata }) => metadata.labels?.["spark-role"] === "executor");
  if (theirs === undefined) return undefined;
  const ours = ourObjects(recorded, recorded.application);
  if ("refused" in ours) return outcomeOf(name, "executor", [{ path: "refused", ours: ours.refused, theirs: "" }]);
  const pod = { apiVersion: "v1", kind: "Pod", ...ours.executor };
  return outcomeOf(
    name,
    "executor",
    differences(comparable(served(pod)), comparable(asWritten(theirs)), labelOf(theirs)),
  );
};
