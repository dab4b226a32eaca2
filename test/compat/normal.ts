/** Recorded and made objects brought to one form: random ids renamed, texts that are data parsed. Nothing is dropped. */
import { parse } from "yaml";
import type { Json } from "./compare.ts";
import { isRecord } from "./compare.ts";
import { parseProperties } from "./properties.ts";

const random: readonly (readonly [RegExp, string])[] = [
  [/\bspark-[0-9a-f]{32}\b/g, "<APP_ID>"],
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

const readers: Readonly<Record<string, (text: string) => unknown>> = {
  "spark.properties": parseProperties,
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

export const normal = (object: Json): Json => {
  const named = everyText(withDataRead(object));
  return isRecord(named) ? named : {};
};
