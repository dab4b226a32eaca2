/** What admission finds about one object: what forbids it, and what its writer should know. */

/** The name that an object has or is going to have, and its namespace. */
export type Named = { readonly name: string; readonly namespace: string };

export type Judgement = {
  /** Each names the field and what to change; empty when it may be stored. */
  readonly broken: readonly string[];
  readonly warnings: readonly string[];
};
