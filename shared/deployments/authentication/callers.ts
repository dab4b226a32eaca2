/** The callers of a deployment, parsed from its setting: one secret, several of them, or callers as JSON. */

import { openSubjects } from "../../adapters/oidc.ts";
import { type Caller, callers, holderOf } from "../../api/callers.ts";
import { type Identify, identifier } from "../../api/identity.ts";
import { jsonOf } from "../../core/json.ts";
import type { Report } from "../../engine/ports.ts";
import type { Secret } from "../common/secret.ts";

const shortest = 16;

/** Parses the callers. Throws one line that names every wrong field and contains no secret. */
export const callersOf = (text: string): readonly Caller[] => {
  if (!text.startsWith("[")) {
    const holder = holderOf(text);
    if (holder.keys?.every((key) => key.length >= shortest) !== true || holder.keys.length === 0)
      throw new Error(`a secret of at least ${shortest} characters is needed, or callers as JSON`);
    return [holder];
  }
  const given = jsonOf(text);
  if (given === undefined) throw new Error("callers: JSON is needed, a list of callers");
  const read = callers.safeParse(given);
  if (read.success) return read.data;
  const wrong = read.error.issues.map(({ path, message }) => `${path.join(".") || "callers"}: ${message}`);
  throw new Error(`callers: ${wrong.join("; ")}`);
};

/**
 * Opens the identification of callers; undefined without a secret. Callers are parsed again when the secret changes.
 */
export const identifyBy = (secret: Secret | undefined, report: Report): Identify | undefined => {
  if (secret === undefined) return undefined;
  const onError = (issuer: string, cause: unknown): void =>
    report("warn", "cannot fetch the keys of an identity provider", { issuer, error: String(cause) });
  const parts = { now: Date.now, subjectOf: openSubjects(onError) };
  let known: { readonly text: string; readonly identify: Identify } | undefined;
  return async (asking) => {
    const text = await secret();
    if (known?.text !== text) known = { text, identify: identifier(callersOf(text), parts) };
    return await known.identify(asking);
  };
};

/** Checks the setting. Rejects where the secret cannot be read or its callers cannot be parsed. */
export const checkCallers = async (secret: Secret | undefined): Promise<void> => {
  if (secret !== undefined) callersOf(await secret());
};
