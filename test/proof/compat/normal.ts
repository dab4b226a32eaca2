/**
 * Recorded and made objects brought to one form: random ids and moments renamed, texts that are data parsed, what was
 * numbered by lot put in order. Nothing is dropped.
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

/** Every text in a value, keys too. */
const everyText = (value: unknown): unknown => {
  if (typeof value === "string") return renamed(value);
  if (Array.isArray(value)) return value.map(everyText);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [renamed(key), everyText(item)]));
};

const moment = "spark.app.submitTime";

/** Confs as data; the moment of the submission, which the recordings of the client leave out, has no value. */
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

/** Recordings hold some of them parsed already, and say so in the key. */
const readKey = (key: string, value: unknown): [string, unknown] => {
  const read = readers[key];
  return read === undefined || typeof value !== "string" ? [key.replace(/\(parsed\)$/, ""), value] : [key, read(value)];
};

const withDataRead = (object: Json): Json =>
  object["kind"] === "ConfigMap" && isRecord(object["data"])
    ? { ...object, data: Object.fromEntries(Object.entries(object["data"]).map(([key, item]) => readKey(key, item))) }
    : object;

const option = /^SPARK_JAVA_OPT_(\d+|<N>)$/;

/** Options of a JVM are numbered in the order of a hash table: here in the order of their texts. */
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
