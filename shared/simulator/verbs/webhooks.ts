/** The admission webhooks of a request: rules, selectors, and their order. */

import type { Kind } from "../schema/kinds.ts";
import { type Fields, fieldsAt, itemsAt, numberAt, textAt } from "../storage/json.ts";
import type { Item } from "../storage/metadata.ts";
import type { Store } from "../storage/store.ts";

export type Operation = "CREATE" | "UPDATE" | "DELETE";

/** A change before it is made. */
export type Change = {
  readonly kind: Kind;
  readonly operation: Operation;
  readonly sub: string | undefined;
  readonly object: Item | undefined;
  readonly old: Item | undefined;
};

export type Webhook = {
  readonly name: string;
  readonly url: string;
  readonly caBundle: string | undefined;
  readonly timeoutSeconds: number;
  /** Whether a failed call refuses the request. */
  readonly fails: boolean;
  readonly body: Fields;
};

/** Returns a webhook's answer to an AdmissionReview. Throws where there is none. */
export type Admit = (webhook: Webhook, review: unknown) => unknown;

const urlOf = (webhook: unknown): string => {
  const service = fieldsAt(webhook, "clientConfig", "service");
  const port = numberAt(service, "port") ?? 443;
  const path = textAt(service, "path") ?? "";
  return (
    textAt(webhook, "clientConfig", "url") ??
    `https://${textAt(service, "name")}.${textAt(service, "namespace")}.svc:${port}${path}`
  );
};

const webhookOf = (body: unknown): Webhook => ({
  name: textAt(body, "name") ?? "",
  url: urlOf(body),
  caBundle: textAt(body, "clientConfig", "caBundle"),
  timeoutSeconds: numberAt(body, "timeoutSeconds") ?? 10,
  fails: textAt(body, "failurePolicy") !== "Ignore",
  body: fieldsAt(body),
});

const listed = (rule: unknown, field: string, wanted: readonly string[]): boolean =>
  itemsAt(rule, field).some((item) => item === "*" || wanted.some((each) => each === item));

const resourceListed = (rule: unknown, plural: string, sub: string | undefined): boolean => {
  const wanted = sub === undefined ? [plural, "*", "*/*"] : [`${plural}/${sub}`, `${plural}/*`, `*/${sub}`, "*/*"];
  return itemsAt(rule, "resources").some((item) => wanted.some((each) => each === item));
};

const ruleMatches = (rule: unknown, { kind, operation, sub }: Change): boolean => {
  const scope = textAt(rule, "scope") ?? "*";
  return (
    listed(rule, "operations", [operation]) &&
    listed(rule, "apiGroups", [kind.group]) &&
    listed(rule, "apiVersions", [kind.version]) &&
    resourceListed(rule, kind.plural, sub) &&
    (scope === "*" || (scope === "Namespaced") === kind.namespaced)
  );
};

type Labels = Readonly<Record<string, string>>;

const expressionHolds = (expression: unknown, labels: Labels): boolean => {
  const value = labels[textAt(expression, "key") ?? ""];
  const among = itemsAt(expression, "values").some((item) => item === value);
  switch (textAt(expression, "operator")) {
    case "In":
      return value !== undefined && among;
    case "NotIn":
      return !among;
    case "Exists":
      return value !== undefined;
    default:
      return value === undefined;
  }
};

export const selects = (selector: unknown, labels: Labels): boolean =>
  Object.entries(fieldsAt(selector, "matchLabels")).every(([key, value]) => labels[key] === value) &&
  itemsAt(selector, "matchExpressions").every((each) => expressionHolds(each, labels));

const namespaceLabels = (store: Store, { kind, object, old }: Change): Labels | undefined => {
  const item = object ?? old;
  if (kind.table === "namespaces") return item?.metadata.labels ?? {};
  if (!kind.namespaced) return undefined;
  return store.get("namespaces", item?.metadata.namespace ?? "")?.metadata.labels ?? {};
};

const concerns = (store: Store, { body }: Webhook, change: Change): boolean => {
  if (!itemsAt(body, "rules").some((rule) => ruleMatches(rule, change))) return false;
  const around = namespaceLabels(store, change);
  if (around !== undefined && !selects(body["namespaceSelector"], around)) return false;
  return [change.object, change.old].some(
    (item) => item !== undefined && selects(body["objectSelector"], item.metadata.labels ?? {}),
  );
};

const group = "admissionregistration.k8s.io";

/** The webhooks to call, in order. Webhook configurations themselves pass without a call. */
export const webhooksFor = (store: Store, phase: "mutating" | "validating", change: Change): readonly Webhook[] => {
  const configurations = store.list(`${phase}webhookconfigurations.${group}`);
  if (configurations.length === 0 || change.kind.group === group) return [];
  return configurations
    .flatMap((each) => itemsAt(each, "webhooks").map(webhookOf))
    .filter((webhook) => concerns(store, webhook, change));
};
