/** Reads null as absent, as Kubernetes does, before anything is parsed. */
import { isRecord } from "../../kube/responses.ts";

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
