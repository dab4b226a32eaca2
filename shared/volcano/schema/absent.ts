/** Kubernetes reads null as absent; so does everything here, before anything is parsed. */
import { isRecord } from "../../kube/answers.ts";

/** The value without fields that are null, at any depth. Items of lists keep their places. */
export const withoutNulls = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isRecord(value)) return value;
  const there = Object.entries(value).filter(([, item]) => item !== null && item !== undefined);
  return Object.fromEntries(there.map(([key, item]) => [key, withoutNulls(item)]));
};
