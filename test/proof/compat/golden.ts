/**
 * Reads recordings of clusters with upstream's operator: the application, its objects, and the Spark version that
 * submitted them.
 */
import { readFileSync } from "node:fs";
import * as z from "zod";
import type { SparkApplicationSpec } from "../../../shared/spark/schema/application.ts";
import { parseSpec } from "../../../shared/spark/schema/rules.ts";
import type { Difference, Json } from "./compare.ts";
import { differences, isRecord } from "./compare.ts";
import { normal } from "./normal.ts";
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

export type Recorded = z.infer<typeof objectSchema>;

export type Golden = {
  readonly application: Recorded;
  readonly spec: SparkApplicationSpec;
  readonly submissionId: string;
  readonly objects: readonly Recorded[];
};

export const golden = (file: string): Golden => {
  const { items } = z.object({ items: z.array(objectSchema) }).parse(JSON.parse(readFileSync(file, "utf8")));
  const application = items.find(({ kind }) => kind === "SparkApplication");
  if (application === undefined) throw new Error(`${file} holds no SparkApplication`);
  const parsed = parseSpec(application);
  if (!parsed.ok) throw new Error(parsed.message);
  const { submissionID } = z.looseObject({ submissionID: z.string() }).parse(application["status"]);
  return { application, spec: parsed.spec, submissionId: submissionID, objects: items };
};

const roleOf = ({ metadata }: Recorded): string | undefined => metadata.labels?.["spark-role"];

export const executorIn = ({ objects }: Golden): Recorded | undefined =>
  objects.find((object) => roleOf(object) === "executor");

/** The machine that submitted: its Spark version, its user, and its address of the API server. */
export type Submitter = { readonly version: string; readonly user: string; readonly apiServer: string };

const userIn = (pod: Recorded | undefined): string => {
  const containers = z.looseObject({
    containers: z.array(z.looseObject({ env: z.array(z.looseObject({})).optional() })),
  });
  const all = containers.safeParse(pod?.["spec"]).data?.containers.flatMap(({ env }) => env ?? []) ?? [];
  return `${all.find(({ name }) => name === "SPARK_USER")?.["value"] ?? "spark"}`;
};

const apiServerIn = (objects: readonly Recorded[]): string => {
  const data = z.looseObject({ data: z.looseObject({ "spark.properties": z.string() }) });
  const maps = objects.flatMap((object) => data.safeParse(object).data ?? []);
  const master = maps.map((map) => parseProperties(map.data["spark.properties"])["spark.master"])[0];
  return (master ?? "").replace(/^k8s:\/\//, "");
};

export const submitterOf = ({ objects, spec }: Golden): Submitter => {
  const driver = objects.find((object) => roleOf(object) === "driver");
  return {
    version: driver?.metadata.labels?.["spark-version"] ?? spec.sparkVersion,
    user: userIn(driver),
    apiServer: apiServerIn(objects),
  };
};

/** Lists the objects of a submission: the controller creates the UI's service later, the driver creates executors. */
export const submitted = ({ objects, application }: Golden): readonly Recorded[] =>
  objects.filter(
    (object) =>
      object.kind !== "SparkApplication" &&
      object.metadata.name !== `${application.metadata.name}-ui-svc` &&
      roleOf(object) !== "executor",
  );

export const labelOf = (object: Json): string => {
  const metadata = isRecord(object["metadata"]) ? object["metadata"] : {};
  return `${object["kind"]} ${metadata["name"]}`;
};

const inGosForm = (key: string, value: unknown): unknown =>
  key === "requests" || key === "limits" ? quantities(value) : asTyped(value);

/** Normalises as Go's typed serialisation does: quantities have one form, and empty `resources` are dropped. */
const asTyped = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(asTyped);
  if (!isRecord(value)) return value;
  const kept = Object.entries(value).filter(([key, item]) => !(key === "resources" && JSON.stringify(item) === "{}"));
  return Object.fromEntries(kept.map(([key, item]) => [key, inGosForm(key, item)]));
};

const typed = (one: Json): Json => {
  const plain = one["kind"] === "ConfigMap" ? asTyped(one) : one;
  return isRecord(plain) ? plain : one;
};

/** Returns an object of ours as an API server stores it. */
export const stored = (object: Json): Json => typed(normal(served(object)));

/** Returns a stored object without the fields that only the server sets. */
export const recalled = (object: Json): Json => typed(normal(asWritten(object)));

const byLabel = (objects: readonly Json[]): ReadonlyMap<string, Json> =>
  new Map(objects.map((object) => [labelOf(object), object]));

/** Compares objects by kind and name; an object on one side only is a difference, too. */
export const compared = (ours: readonly Json[], theirs: readonly Json[]): readonly Difference[] => {
  const [mine, recorded] = [byLabel(ours), byLabel(theirs)];
  return [...new Set([...mine.keys(), ...recorded.keys()])].flatMap((label) =>
    differences(mine.get(label), recorded.get(label), label),
  );
};
