/** Masks values that look like secrets, because a spec may hold some and pages and recordings are read by many. */
import { isRecord } from "../core/json.ts";

const secretive = /secret|passw|token|credential|api-?key|access-?key|private-?key/i;
const mask = "(masked)";

const hidden = new Set(["managedFields"]);
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/** True for the entry of a container's environment whose name looks like a secret's. */
const isSecretEntry = (value: Readonly<Record<string, unknown>>): boolean =>
  typeof value["name"] === "string" && typeof value["value"] === "string" && secretive.test(value["name"]);

/** True for the name, or the path, of a field whose text looks like a secret. */
export const isSecretName = (name: string): boolean => secretive.test(name) && !/name$/i.test(name);

const maskedField = (name: string, value: unknown): unknown => {
  const isSecret = typeof value === "string" && isSecretName(name);
  return isSecret || name === lastApplied ? mask : maskSecrets(value);
};

/** Returns a copy with the values of secrets replaced. All fields stay. */
export const maskSecrets = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(maskSecrets);
  if (!isRecord(value)) return value;
  const fields = Object.entries(value).map(([name, inner]) => [name, maskedField(name, inner)] as const);
  return { ...Object.fromEntries(fields), ...(isSecretEntry(value) ? { value: mask } : {}) };
};

const withoutHidden = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutHidden);
  if (!isRecord(value)) return value;
  const shown = Object.entries(value).filter(([name]) => !hidden.has(name) && name !== lastApplied);
  return Object.fromEntries(shown.map(([name, inner]) => [name, withoutHidden(inner)]));
};

/** Returns a copy for people: without managed fields, and with the values of secrets replaced. */
export const masked = (value: unknown): unknown => maskSecrets(withoutHidden(value));
