/** Fields of all kinds: null as absent, as Kubernetes reads it; its rules for names, with its words for errors; and whether
 * dependencies can be met in some order. */

import { isRecord } from "../../core/json.ts";
import { nameOf, type Task } from "./spec.ts";

/** Returns the value without null fields at any depth: itself if it has none. Items of lists keep their places. */
export const withoutNulls = (value: unknown): unknown => {
  if (Array.isArray(value)) {
    const items = value.map(withoutNulls);
    return items.every((item, at) => item === value[at]) ? value : items;
  }
  if (!isRecord(value)) return value;
  const entries = Object.entries(value);
  const there = entries
    .filter(([, item]) => item !== null && item !== undefined)
    .map(([key, item]): [string, unknown] => [key, withoutNulls(item)]);
  const isWhole = there.length === entries.length && there.every(([key, item]) => item === value[key]);
  return isWhole ? value : Object.fromEntries(there);
};

const qualified = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

const qualifiedSaying =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const labelSaying =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const subdomainSaying =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

const atMost = (what: string, length: number): string => `${what}must be no more than ${length} characters`;

/** Returns the errors of a name that becomes a label's value; empty if it may be one. */
export const qualifiedNameErrors = (name: string): readonly string[] => {
  if (name === "") return ["name part must be non-empty", qualifiedSaying];
  return [...(name.length > 63 ? [atMost("name part ", 63)] : []), ...(qualified.test(name) ? [] : [qualifiedSaying])];
};

export const labelErrors = (name: string): readonly string[] => [
  ...(name.length > 63 ? [atMost("", 63)] : []),
  ...(label.test(name) ? [] : [labelSaying]),
];

export const subdomainErrors = (name: string): readonly string[] => [
  ...(name.length > 253 ? [atMost("", 253)] : []),
  ...(subdomain.test(name) ? [] : [subdomainSaying]),
];

/** Writes a list as Go prints it. */
export const goList = (items: readonly string[]): string => `[${items.join(" ")}]`;

/** By name: the names that each depends on. */
type Graph = ReadonlyMap<string, readonly string[]>;

/** Returns the names that can never start: they are in a cycle, or depend on one that is, or on an unknown one. */
export const unstartable = (graph: Graph): readonly string[] => {
  const waiting = new Map(graph);
  const started = new Set<string>();
  for (;;) {
    const ready = [...waiting].filter(([, before]) => before.every((name) => started.has(name)));
    if (ready.length === 0) return [...waiting.keys()];
    for (const [name] of ready) {
      started.add(name);
      waiting.delete(name);
    }
  }
};

/** True if every task can start after those that it depends on. A task that depends on an unknown task cannot. */
export const formsDag = (tasks: readonly Task[]): boolean =>
  unstartable(new Map(tasks.map((task) => [nameOf(task), task.dependsOn?.name ?? []]))).length === 0;
