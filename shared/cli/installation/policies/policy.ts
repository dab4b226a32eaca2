/** What a policy of admission is: for which objects, and the rules that they are held to, in CEL. */

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
  /** When it is looked at at all; absent: when the spec is another than before. */
  readonly conditions?: readonly Condition[];
  readonly variables: readonly Variable[];
  readonly rules: readonly Rule[];
};
