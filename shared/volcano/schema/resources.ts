/** Checks amounts in a job: of its pods' containers, their overhead, and the claims that are created for it. */

import { fieldsOf } from "../../core/json.ts";
import { quantityOf } from "../../kube/quantity.ts";
import { isRecord, type Json } from "../../kube/responses.ts";
import { type JobSpec, type Task, tasksOf } from "./spec.ts";
import { containersIn } from "./template.ts";

/** 2^63 - 1 whole units, in billionths: Kubernetes' own amounts are not larger. */
const most = (2n ** 63n - 1n) * 1_000_000_000n;

/** Returns why a value is no amount; undefined if it is one. */
export const amountSaying = (path: string, value: unknown): string | undefined => {
  const quantity = quantityOf(value);
  if (quantity === undefined) return `${path} must be an amount such as 500m or 2Gi, not ${JSON.stringify(value)}`;
  return quantity.nano > most || quantity.nano < -most
    ? `${path} is more than Kubernetes can count: ${JSON.stringify(value)}`
    : undefined;
};

const within = (value: unknown, field: string): Json => {
  const inner = isRecord(value) ? value[field] : undefined;
  return fieldsOf(inner);
};

const amountsSaying = (path: string, amounts: Json): readonly string[] =>
  Object.entries(amounts).flatMap(([name, value]) => {
    const wrong = amountSaying(`${path}.${name}`, value);
    if (wrong !== undefined) return [wrong];
    return (quantityOf(value)?.nano ?? 0n) < 0n ? [`${path}.${name} must be at least 0, not ${value}`] : [];
  });

const ofResources = (path: string, owner: unknown): readonly string[] =>
  ["requests", "limits"].flatMap((list) =>
    amountsSaying(`${path}.resources.${list}`, within(within(owner, "resources"), list)),
  );

const ofTask = (task: Task, at: number): readonly string[] => {
  const spec = task.template?.spec;
  const path = `spec.tasks[${at}].template.spec`;
  return [
    ...["containers", "initContainers"].flatMap((list) =>
      containersIn(spec, list).flatMap((container, index) => ofResources(`${path}.${list}[${index}]`, container)),
    ),
    ...amountsSaying(`${path}.overhead`, within(spec, "overhead")),
  ];
};

/** Returns the errors by field; empty if there is none. */
export const resourcesSaying = (spec: JobSpec): readonly string[] => [
  ...tasksOf(spec).flatMap(ofTask),
  ...(spec.volumes ?? []).flatMap(({ volumeClaim }, at) => ofResources(`spec.volumes[${at}].volumeClaim`, volumeClaim)),
];
