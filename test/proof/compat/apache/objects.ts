/**
 * Compares the objects of an attempt of Apache's SparkApplication with those that upstream's operator made on a real API
 * server, and its recorded statuses with the same statuses after they were read and written.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { omit } from "../../../../shared/core/json.ts";
import { readApache } from "../../../../shared/spark/apache/spec/read.ts";
import { recordIn, statusOf } from "../../../../shared/spark/apache/status/record.ts";
import { submitApache } from "../../../../shared/spark/apache/submission.ts";
import { type Difference, differences, isRecord, type Json } from "../compare.ts";
import { labelOf, recalled, stored } from "../golden.ts";
import { withoutOwners } from "../ownership.ts";
import { subtracted } from "../subtracted.ts";

export type Application = { readonly name: string; readonly namespace: string; readonly spec: unknown };

const uid = "11111111-2222-3333-4444-555555555555";

type Made = { readonly objects: readonly Json[] } | { readonly refused: string };

/** Builds all objects of the first attempt, the driver last; or tells why there is none. */
export const madeFor = ({ name, namespace, spec }: Application): Made => {
  const read = readApache({ metadata: { name }, spec });
  if (!read.ok) return { refused: read.message };
  const app = { name, namespace, uid };
  const made = submitApache({ app, spec: read.spec, attempt: 0, operatorName: "spark-kubernetes-operator" });
  return "refused" in made ? made : { objects: [...made.before, made.driver] };
};

const yamlIn = (file: string): Json => {
  const value: unknown = parse(readFileSync(file, "utf8"));
  return isRecord(value) ? value : {};
};

const fieldIn = (value: unknown, name: string): unknown => (isRecord(value) ? value[name] : undefined);

/** The volume and the mount of a service account's token, which the API server adds to every pod. */
const isToken = (one: unknown): boolean => /^kube-api-access-/.test(`${fieldIn(one, "name")}`);

const withoutToken = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.filter((one) => !isToken(one)).map(withoutToken);
  return isRecord(value)
    ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutToken(item)]))
    : value;
};

/** Fields of a Service that the API server gives it. */
const allocated = ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"] as const;

const withoutAddresses = (object: Json): Json => {
  const { spec } = object;
  return object["kind"] === "Service" && isRecord(spec) ? { ...object, spec: omit(spec, ...allocated) } : object;
};

const upstreams = (file: string): Json => {
  const object = withoutToken(withoutAddresses(recalled(yamlIn(file))));
  return isRecord(object) ? object : {};
};

const ours = (object: Json, name: string): Json => withoutAddresses(subtracted(stored(object), name, new Set()));

/** Drops the owner of an object beside the driver where it is the intended one: the application with us, the driver there. */
const owned = (object: Json, owner: Json): Json => {
  const found = fieldIn(object["metadata"], "ownerReferences");
  const expected = [{ ...owner, blockOwnerDeletion: true }];
  return object["kind"] !== "Pod" && differences(found, expected).length === 0 ? withoutOwners(object) : object;
};

const places = { namespace: "default", folder: join("spark-kubernetes-operator", "recorded") };

/** Compares one recorded object with ours of the same kind and name. */
export const objectDifferences = (
  data: string,
  file: string,
  app: Omit<Application, "namespace">,
): readonly Difference[] => {
  const theirs = upstreams(join(data, places.folder, file));
  const label = labelOf(theirs);
  const made = madeFor({ ...app, namespace: places.namespace });
  if ("refused" in made) return [{ path: "refused", ours: made.refused, theirs: "accepted" }];
  const mine = made.objects.find((object) => labelOf(object) === label);
  if (mine === undefined) return [{ path: label, ours: undefined, theirs: "made" }];
  const application = { apiVersion: "spark.apache.org/v1", kind: "SparkApplication", name: app.name, uid: "<UUID>" };
  const driver = { apiVersion: "v1", kind: "Pod", name: `${app.name}-0-driver`, uid: "<UUID>" };
  return differences(owned(ours(mine, app.name), application), owned(theirs, driver), label);
};

const itemsIn = (file: string): readonly Json[] => {
  const whole = yamlIn(file);
  return Array.isArray(whole["items"]) ? whole["items"].filter(isRecord) : [whole];
};

/** Reads each status of a recorded file and writes it again. */
export const statusDifferences = (data: string, file: string): readonly Difference[] =>
  itemsIn(join(data, places.folder, file)).flatMap((item) => {
    const record = recordIn(item["status"]);
    return record === undefined
      ? [{ path: labelOf(item), ours: undefined, theirs: "a status" }]
      : differences(statusOf(record), item["status"], labelOf(item));
  });
