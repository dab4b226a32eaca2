/** Label and field selectors, as the query of a LIST or WATCH carries them. */

import { at, textAt } from "./json.ts";
import type { Item } from "./metadata.ts";
import { selectorFaults } from "./names.ts";
import { badRequest } from "./refusal.ts";

export type Matches = (object: Item) => boolean;

const always: Matches = () => true;

/** Splits at commas that are not inside parentheses. */
const terms = (text: string): readonly string[] =>
  text.match(/[^,(]*(\([^)]*\))?[^,(]*/g)?.filter((t) => t !== "") ?? [];

type Test = (value: string | undefined, values: readonly string[]) => boolean;

const tests: Readonly<Record<string, Test>> = {
  "=": (value, [wanted]) => value === wanted,
  "==": (value, [wanted]) => value === wanted,
  "!=": (value, [wanted]) => value !== wanted,
  in: (value, values) => value !== undefined && values.includes(value),
  notin: (value, values) => value === undefined || !values.includes(value),
  gt: (value, [limit]) => value !== undefined && Number(value) > Number(limit),
  lt: (value, [limit]) => value !== undefined && Number(value) < Number(limit),
};

const setTerm = /^([^\s!=<>,()]+)\s+(in|notin)\s*\(([^)]*)\)$/;
const equalTerm = /^([^\s!=<>,()]+)\s*(==|!=|=|>|<)\s*([^\s!=<>,()]*)$/;
const existsTerm = /^(!?)\s*([^\s!=<>,()]+)$/;
const orders: Readonly<Record<string, string>> = { ">": "gt", "<": "lt" };

const labelOf = (object: Item, key: string): string | undefined => textAt(object.metadata, "labels", key);

const testing = (key: string, operator: string, values: readonly string[]): Matches => {
  const [fault] = selectorFaults(key, values);
  if (fault !== undefined) throw badRequest(`unable to parse requirement: ${fault.field}: ${fault.message}`);
  const test = tests[orders[operator] ?? operator] ?? (() => false);
  return (object) => test(labelOf(object, key), values);
};

const labelTerm = (term: string): Matches => {
  const set = setTerm.exec(term);
  if (set !== null) {
    const [, key = "", operator = "", values = ""] = set;
    return testing(
      key,
      operator,
      values.split(",").map((value) => value.trim()),
    );
  }
  const equal = equalTerm.exec(term);
  if (equal !== null) {
    const [, key = "", operator = "", value = ""] = equal;
    return testing(key, operator, [value]);
  }
  const exists = existsTerm.exec(term);
  if (exists === null)
    throw badRequest(
      `unable to parse requirement: found '${term}', expected: identifier, in, notin, =, ==, !=, gt, lt`,
    );
  const [, not, key = ""] = exists;
  return (object) => (labelOf(object, key) !== undefined) === (not === "");
};

const all = (parts: readonly Matches[]): Matches => {
  const [only] = parts;
  if (only === undefined) return always;
  return parts.length === 1 ? only : (object) => parts.every((part) => part(object));
};

export const labelSelector = (text: string): Matches =>
  all(
    terms(text)
      .map((term) => term.trim())
      .filter((term) => term !== "")
      .map(labelTerm),
  );

/** Fields that can be selected on, beside name and namespace. */
const selectable: Readonly<Record<string, readonly string[]>> = {
  pods: [
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "status.phase",
    "status.podIP",
    "status.nominatedNodeName",
    "spec.hostNetwork",
  ],
  events: [
    "involvedObject.kind",
    "involvedObject.namespace",
    "involvedObject.name",
    "involvedObject.uid",
    "involvedObject.apiVersion",
    "involvedObject.resourceVersion",
    "involvedObject.fieldPath",
    "reason",
    "reportingComponent",
    "source",
    "type",
  ],
  nodes: ["spec.unschedulable"],
  namespaces: ["status.phase"],
  secrets: ["type"],
  "jobs.batch": ["status.successful"],
};

const fieldValue = (object: Item, field: string): string => {
  const value = at(object, ...(field === "source" ? ["source", "component"] : field.split(".")));
  if (value === undefined || value === null)
    return field === "spec.unschedulable" || field === "spec.hostNetwork" ? "false" : "";
  return String(value);
};

const fieldTerm = (table: string, term: string): Matches => {
  const [, field = "", operator, value = ""] = /^([^!=]+)(==|!=|=)(.*)$/.exec(term) ?? [];
  if (operator === undefined) throw badRequest(`invalid selector: '${term}'; can't understand '${term}'`);
  const known = field === "metadata.name" || field === "metadata.namespace" || selectable[table]?.includes(field);
  if (!known)
    throw badRequest(
      selectable[table] === undefined
        ? `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`
        : `field label not supported: ${field}`,
    );
  return (object) => (fieldValue(object, field) === value) === (operator !== "!=");
};

export const fieldSelector = (table: string, text: string): Matches =>
  all(
    text
      .split(",")
      .filter((term) => term !== "")
      .map((term) => fieldTerm(table, term)),
  );

/** Both selectors of a request. */
export const selectorOf = (table: string, labels: string | undefined, fields: string | undefined): Matches => {
  if (!labels && !fields) return always;
  return all([labelSelector(labels ?? ""), fieldSelector(table, fields ?? "")].filter((part) => part !== always));
};
