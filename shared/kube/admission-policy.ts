/**
 * A policy of admission: the objects that it covers, the namespaces in which the API server applies it, and its rules
 * in CEL.
 */
import { type Expression, expressionsOf } from "./selector.ts";

export type Rule = {
  readonly expression: string;
  /** For people: the field, and what to change. Either fixed or an expression. */
  readonly message?: string;
  readonly messageExpression?: string;
};

export type Variable = { readonly name: string; readonly expression: string };

export type Condition = Variable;

export type Policy = {
  readonly name: string;
  readonly group: string;
  readonly apiVersion: string;
  readonly resource: string;
  /** Absent: in a namespace. */
  readonly scope?: "Cluster";
  /** Absent: creations and updates. */
  readonly operations?: readonly string[];
  /** Match conditions of the policy; absent: the spec is new or has changed. */
  readonly conditions?: readonly Condition[];
  readonly variables: readonly Variable[];
  readonly rules: readonly Rule[];
};

export type Places = {
  /** Names; empty with an empty selector: everywhere. */
  readonly namespaces: readonly string[];
  /** Label selector of further namespaces. */
  readonly namespaceSelector?: string | undefined;
};

/** One selector cannot express "these names or these labels": then all namespaces match, and the webhook filters. */
export const expressionsFor = ({ namespaces, namespaceSelector = "" }: Places): readonly Expression[] => {
  if (namespaceSelector === "")
    return namespaces.length === 0 ? [] : [{ key: "kubernetes.io/metadata.name", operator: "In", values: namespaces }];
  return namespaces.length === 0 ? expressionsOf(namespaceSelector) : [];
};
