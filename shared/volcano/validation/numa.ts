/** A task that asks for NUMA placement must be guaranteed whole CPUs. */

import { fieldsOf } from "../../core/json.ts";
import { quantityOf } from "../../kube/quantity.ts";
import { isRecord, type Json } from "../../kube/responses.ts";
import type { Task } from "../schema/spec.ts";
import { containersIn } from "../schema/template.ts";

const listIn = (container: Json, what: "requests" | "limits"): Json => {
  const resources = container["resources"];
  const list = isRecord(resources) ? resources[what] : undefined;
  return fieldsOf(list);
};

/** Returns the requests of a container; without any, its limits count as requests. */
const requestsOf = (container: Json): Json => {
  const requests = listIn(container, "requests");
  return Object.keys(requests).length === 0 ? listIn(container, "limits") : requests;
};

const amount = (list: Json, name: string): bigint | undefined => quantityOf(list[name])?.nano;

const isGuaranteed = (container: Json): boolean =>
  ["cpu", "memory"].every((name) => {
    const limit = amount(listIn(container, "limits"), name);
    return limit !== undefined && limit > 0n && amount(requestsOf(container), name) === limit;
  });

const asksForAny = (container: Json): boolean =>
  ["cpu", "memory"].some((name) => [requestsOf(container), listIn(container, "limits")].some((list) => name in list));

const wholeCpus = 1_000_000_000n;

const hasWholeCpus = (container: Json): boolean => {
  const cpus = amount(requestsOf(container), "cpu") ?? 0n;
  return cpus > 0n && cpus % wholeCpus === 0n;
};

/** Returns the first error; empty if there is none. */
export const numaSaying = (task: Task, index: number): string => {
  if ((task.topologyPolicy ?? "") === "" || task.topologyPolicy === "none") return "";
  const containers = [...containersIn(task.template?.spec), ...containersIn(task.template?.spec, "initContainers")];
  if (containers.length === 0 || !containers.every(isGuaranteed)) {
    const kind = containers.some(asksForAny) ? "Burstable" : "BestEffort";
    return `spec.task[${index}] isn't Guaranteed pod, kind=${kind}`;
  }
  const partial = containers.findIndex((container) => !hasWholeCpus(container));
  return partial < 0 ? "" : `the cpu request isn't  an integer in spec.task[${index}] container[${partial}].`;
};
