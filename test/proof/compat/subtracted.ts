/**
 * Removes from our objects, before they are compared, exactly the additions that `additions.ts` declares, where it
 * declares them. Any other addition stays and shows as a difference.
 */
import { addedConfs, addedLabels, addedVariables, foundBy } from "../../../shared/spark/submission/additions.ts";
import type { Json } from "./compare.ts";
import { isRecord } from "./compare.ts";
import { ofApplication } from "./ownership.ts";

const without = (value: unknown, keys: readonly string[]): Json | undefined => {
  const kept = Object.entries(isRecord(value) ? value : {}).filter(([key]) => !keys.includes(key));
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
};

const withoutLabels = (object: Json, keys: readonly string[]): Json => {
  const { labels, ...metadata } = isRecord(object["metadata"]) ? object["metadata"] : {};
  const kept = without(labels, keys);
  return { ...object, metadata: { ...metadata, ...(kept === undefined ? {} : { labels: kept }) } };
};

type Data = { readonly [key: string]: unknown };

const withoutConfs = (data: Data, told: ReadonlySet<string>): Data => {
  const added = addedConfs.filter((key) => !told.has(key));
  const confs = without(data["spark.properties"], added);
  return data["spark.properties"] === undefined ? data : { ...data, "spark.properties": confs };
};

const withoutTemplateLabels = (data: Data): Data => {
  const template = data["podspec-configmap-key"];
  return isRecord(template) ? { ...data, "podspec-configmap-key": withoutLabels(template, addedLabels) } : data;
};

const isAdded = (variable: unknown): boolean =>
  isRecord(variable) && addedVariables.some((name) => name === variable["name"]);

const withoutVariables = (object: Json): Json => {
  const spec = object["spec"];
  const { containers } = isRecord(spec) ? spec : {};
  if (!isRecord(spec) || !Array.isArray(containers)) return object;
  const plain = containers.map((one) =>
    isRecord(one) && Array.isArray(one["env"])
      ? { ...one, env: one["env"].filter((variable) => !isAdded(variable)) }
      : one,
  );
  return { ...object, spec: { ...spec, containers: plain } };
};

/** Removes our additions from an object. `told`: the confs that the application's user set, which are no additions. */
export const subtracted = (object: Json, application: string, told: ReadonlySet<string>): Json => {
  const labels = object["kind"] === "Pod" ? addedLabels : [...addedLabels, ...foundBy];
  const plain = withoutVariables(withoutLabels(ofApplication(object, application), labels));
  const data = plain["data"];
  return isRecord(data) ? { ...plain, data: withoutTemplateLabels(withoutConfs(data, told)) } : plain;
};
