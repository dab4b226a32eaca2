/** A policy of admission: the objects that it covers, and their rules in CEL. */

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
