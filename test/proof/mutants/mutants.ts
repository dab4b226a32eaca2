/** A mutant removes one promise by one edit, and names the sweep or the tests that must fail on it. */

type Edit = {
  readonly name: string;
  /** The promise that the edit removes. */
  readonly promise: string;
  readonly file: string;
  /** A text that occurs in the file exactly once. Line breaks, a renamed function and a moved file do not matter: `anchors.ts`. */
  readonly find: string;
  readonly replace: string;
  /** Declares a function that the replacement calls, and that `find` does not name: a text of the file, too. */
  readonly calls?: string;
};

/** A mutant that the sweep must see: the scenarios to run, and the faults as a regular expression. */
export type Swept = Edit & { readonly scenarios: readonly string[]; readonly fault: string };

/** A mutant that tests must see, where no sweep covers the promise: test files below `test/`. */
export type Tested = Edit & { readonly tests: readonly string[] };

export type Mutant = Swept | Tested;
