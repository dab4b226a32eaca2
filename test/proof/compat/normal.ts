/**
 * Normalises recorded objects and ours: renames random ids, parses texts that contain data, and sorts items that are
 * numbered at random. Drops nothing but the instant of the submission.
 */
import { parse } from "yaml";
import type { Json } from "./compare.ts";
import { isRecord } from "./compare.ts";
import { parseProperties } from "./properties.ts";

const random: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{64}\b/g, "<SECRET>"],
  [/spark-[0-9a-f]{32}\b/g, "<APP_ID>"],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, "<UUID>"],
  [/\b[0-9a-f]{16}\b/g, "<UNIQ>"],
];

const renamed = (text: string): string =>
  random.reduce((before, [pattern, name]) => before.replace(pattern, name), text);

/** Renames random ids in every text of a value, keys included. */
const everyText = (value: unknown): unknown => {
  if (typeof value === "string") return renamed(value);
  if (Array.isArray(value)) return value.map(everyText);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [renamed(key), everyText(item)]));
};

const moment = "spark.app.submitTime";

/** Parses confs. Drops a valid instant of the submission, which the recordings of the client leave out. */
const confsIn = (text: string): Json => {
  const { [moment]: submittedAt, ...confs } = parseProperties(text);
  return submittedAt === undefined || /^\d{13}$/.test(submittedAt) || submittedAt === "0"
    ? confs
    : { ...confs, [moment]: submittedAt };
};

const readers: Readonly<Record<string, (text: string) => unknown>> = {
  "spark.properties": confsIn,
  "metrics.properties": parseProperties,
  "podspec-configmap-key": (text) => parse(text),
  "prometheus.yaml": (text) => parse(text),
};

/** Parses a ConfigMap's entry. Recordings contain some entries already parsed, marked by `(parsed)` in the key. */
const readKey = (key: string, value: unknown): [string, unknown] => {
  const read = readers[key];
  return read === undefined || typeof value !== "string" ? [key.replace(/\(parsed\)$/, ""), value] : [key, read(value)];
};

const withDataRead = (object: Json): Json =>
  object["kind"] === "ConfigMap" && isRecord(object["data"])
    ? { ...object, data: Object.fromEntries(Object.entries(object["data"]).map(([key, item]) => readKey(key, item))) }
    : object;

const option = /^SPARK_JAVA_OPT_(\d+|<N>)$/;

/** Numbers JVM options by the order of their texts: Spark numbers them in the order of a hash table. */
const inOrder = (variables: readonly unknown[]): readonly unknown[] => {
  const isOption = (one: unknown): boolean => isRecord(one) && option.test(`${one["name"]}`);
  const values = variables.flatMap((one) => (isRecord(one) && isOption(one) ? [`${one["value"]}`] : [])).sort();
  const options = values.map((value, at) => ({ name: `SPARK_JAVA_OPT_${at}`, value }));
  return [...variables.filter((one) => !isOption(one)), ...options];
};

const withOptionsInOrder = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withOptionsInOrder);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      key === "env" && Array.isArray(item) ? inOrder(item) : withOptionsInOrder(item),
    ]),
  );
};

export const normal = (object: Json): Json => {
  const named = withOptionsInOrder(everyText(withDataRead(object)));
  return isRecord(named) ? named : {};
};
