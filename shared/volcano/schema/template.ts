/**
 * Checks a task's pods for the most frequent errors that Kubernetes would refuse: names, images, mounts, restart
 * policy. Kubernetes reports other errors when the first pod is created.
 */
import { isRecord } from "../../core/json.ts";
import type { Json } from "../../kube/responses.ts";
import { labelErrors } from "./fields.ts";
import type { Task } from "./spec.ts";

const recordsIn = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isRecord) : []);

const textIn = (value: Json, field: string): string => (typeof value[field] === "string" ? value[field] : "");

/** Containers of a pod's spec, in the order in which it lists them. */
export const containersIn = (spec: Json | undefined, list = "containers"): readonly Json[] => recordsIn(spec?.[list]);

const required = (path: string): string => `${path}: Required value`;

const quoted = (value: string): string => JSON.stringify(value);

const nameErrors = (path: string, name: string): readonly string[] => {
  if (name === "") return [required(path)];
  return labelErrors(name).map((error) => `${path}: Invalid value: ${quoted(name)}: ${error}`);
};

const mountErrors = (path: string, container: Json, volumes: ReadonlySet<string>): readonly string[] =>
  recordsIn(container["volumeMounts"]).flatMap((mount, at) => {
    const name = textIn(mount, "name");
    return [
      ...(name === "" ? [required(`${path}.volumeMounts[${at}].name`)] : []),
      ...(volumes.has(name) ? [] : [`${path}.volumeMounts[${at}].name: Not found: ${quoted(name)}`]),
      ...(textIn(mount, "mountPath") === "" ? [required(`${path}.volumeMounts[${at}].mountPath`)] : []),
    ];
  });

const restartPolicies = ["Always", "Never", "OnFailure"];

const restartErrors = (spec: Json): readonly string[] => {
  const policy = textIn(spec, "restartPolicy");
  if (policy === "" || restartPolicies.includes(policy)) return [];
  const supported = restartPolicies.map(quoted).join(", ");
  return [`template.spec.restartPolicy: Unsupported value: ${quoted(policy)}: supported values: ${supported}`];
};

const containerErrors = (spec: Json): readonly string[] => {
  const volumes = new Set(recordsIn(spec["volumes"]).map((volume) => textIn(volume, "name")));
  const taken = new Set<string>();
  const named = ["containers", "initContainers"].flatMap((list) =>
    containersIn(spec, list).map((container, at) => ({ container, path: `template.spec.${list}[${at}]` })),
  );
  return named.flatMap(({ container, path }) => {
    const name = textIn(container, "name");
    const twice = name !== "" && taken.has(name);
    taken.add(name);
    return [
      ...nameErrors(`${path}.name`, name),
      ...(twice ? [`${path}.name: Duplicate value: ${quoted(name)}`] : []),
      ...(textIn(container, "image") === "" ? [required(`${path}.image`)] : []),
      ...mountErrors(path, container, volumes),
    ];
  });
};

/** Returns one text for all errors; empty if there is none. */
export const templateSaying = ({ template }: Task, index: number): string => {
  const spec = template?.spec ?? {};
  const errors = [
    ...(containersIn(spec).length === 0 ? [required("template.spec.containers")] : []),
    ...containerErrors(spec),
    ...restartErrors(spec),
  ];
  return errors.length === 0 ? "" : `spec.task[${index}].${errors.map((error) => `${error}. `).join("")}`;
};
