/** Masks values that look like secrets, because a spec may hold some and a page is read by many. */
import { isRecord } from "../../kube/responses.ts";

const secretive = /secret|passw|token|credential|api-?key|access-?key|private-?key/i;
const mask = "(masked)";

const hidden = new Set(["managedFields"]);
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/** True for the entry of a container's environment whose name looks like a secret's. */
const isSecretEntry = (value: Readonly<Record<string, unknown>>): boolean =>
  typeof value["name"] === "string" && typeof value["value"] === "string" && secretive.test(value["name"]);

const maskedField = (name: string, value: unknown): unknown =>
  typeof value === "string" && secretive.test(name) && !/name$/i.test(name) ? mask : masked(value);

/** Returns a copy without managed fields and with the values of secrets replaced. */
export const masked = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(masked);
  if (!isRecord(value)) return value;
  const fields = Object.entries(value)
    .filter(([name]) => !hidden.has(name) && name !== lastApplied)
    .map(([name, inner]) => [name, maskedField(name, inner)] as const);
  return { ...Object.fromEntries(fields), ...(isSecretEntry(value) ? { value: mask } : {}) };
};
