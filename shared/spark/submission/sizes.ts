/** Checks the size of the ConfigMaps that a driver reads, and names the field of the application that fills them. */
import type { Obj } from "../../core/object.ts";
import { isRecord } from "../../kube/responses.ts";
import type { SparkApplicationSpec } from "../schema/application.ts";

/** The most bytes of all values of one ConfigMap, by the API server's limit. */
const most = 1_048_576;

const bytesOf = (text: string): number => Buffer.byteLength(text);

const valuesOf = ({ data }: Obj): readonly string[] =>
  isRecord(data) ? Object.values(data).filter((value) => typeof value === "string") : [];

type Field = { readonly path: string; readonly bytes: number; readonly largest?: string };

/** Confs of one field; `largest` is the key with the longest value. */
const confsOf = (path: string, confs: Readonly<Record<string, string>> = {}): Field => {
  const entries = Object.entries(confs);
  const bytes = entries.reduce((sum, [key, value]) => sum + bytesOf(key) + bytesOf(value), 0);
  const [largest] = entries.toSorted(([, one], [, other]) => bytesOf(other) - bytesOf(one));
  return { path, bytes, ...(largest === undefined ? {} : { largest: `${largest[0]} (${bytesOf(largest[1])} bytes)` }) };
};

const textOf = (path: string, value: unknown): Field => ({
  path,
  bytes: value === undefined ? 0 : bytesOf(JSON.stringify(value)),
});

/** The fields that become ConfigMaps of a submission. */
const fieldsOf = (spec: SparkApplicationSpec): readonly Field[] => [
  confsOf("spec.sparkConf", spec.sparkConf),
  confsOf("spec.hadoopConf", spec.hadoopConf),
  textOf("spec.executor.template", spec.executor.template),
  textOf("spec.monitoring", spec.monitoring),
];

/** The error of a ConfigMap that the API server would refuse for its size; undefined when all of them fit. */
export const oversized = (spec: SparkApplicationSpec, objects: readonly Obj[]): string | undefined => {
  const sizes = objects
    .filter(({ kind }) => kind === "ConfigMap")
    .map((map) => valuesOf(map).reduce((sum, value) => sum + bytesOf(value), 0));
  const largest = Math.max(0, ...sizes);
  const [field] = fieldsOf(spec).toSorted((one, other) => other.bytes - one.bytes);
  if (largest <= most || field === undefined) return undefined;
  const longest = field.largest === undefined ? "" : `, most of them in ${field.largest}`;
  return `${field.path} is too large: it has ${field.bytes} bytes${longest}; the driver reads it from a ConfigMap, which holds ${most} bytes and would need ${largest}: make it shorter`;
};
