/**
 * Health checks for Argo CD, made from the states of the kinds: `argocd/health.yaml` holds a script in Lua for each kind,
 * as keys of Argo CD's ConfigMap `argocd-cm`.
 */

import { pausedAnnotation } from "../shared/core/annotation.ts";
import { apiVersionOf, type Resource } from "../shared/core/object.ts";
import { yamlText } from "../shared/inspection/io/documents.ts";
import type { KindStates } from "../shared/kube/object-state.ts";
import { states } from "../shared/registry/states.ts";

type Check = KindStates & { readonly resource: Resource };

export const checks: readonly Check[] = states.map(({ kind: { resource }, ...ofKind }) => ({ ...ofKind, resource }));

const quoted = (text: string): string => JSON.stringify(text);

/** The Lua script of one kind. It reads each level of a path by itself: an absent one gives the empty state. */
export const script = ({ stateAt, messageAt, states: meanings }: Check): string =>
  [
    "local function at(path)",
    "  local value = obj",
    "  for _, field in ipairs(path) do",
    '    if type(value) ~= "table" then return "" end',
    "    value = value[field]",
    "  end",
    '  if type(value) ~= "string" then return "" end',
    "  return value",
    "end",
    "local healths = {",
    ...Object.entries(meanings).map(([name, { health }]) => `  [${quoted(name)}] = ${quoted(health)},`),
    "}",
    `local state = at({${stateAt.map(quoted).join(", ")}})`,
    `local message = at({${messageAt.map(quoted).join(", ")}})`,
    'local health = { status = healths[state] or "Progressing", message = state }',
    'if message ~= "" then health.message = state .. ": " .. message end',
    `if at({"metadata", "annotations", ${quoted(pausedAnnotation)}}) == "true" then`,
    '  health = { status = "Suspended", message = "paused: rekindle resume" }',
    "end",
    "return health",
    "",
  ].join("\n");

/** The part of `argocd-cm` with all checks. */
export const healthChecks = (): string => {
  const data = Object.fromEntries(
    checks.map((check) => [
      `resource.customizations.health.${apiVersionOf(check.resource).split("/")[0]}_${check.resource.kind}`,
      script(check),
    ]),
  );
  return yamlText({ data });
};
