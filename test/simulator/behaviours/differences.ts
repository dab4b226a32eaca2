/** Where the simulator's answer is another than the real server's, and why that may stay so. */

export type Intended = { readonly scenario: string; readonly name: string; readonly reason: string };

const words = "the same status and reason in other words: the real ones show the innards of its decoder";

export const intended: readonly Intended[] = [
  { scenario: "create", name: "of another kind", reason: words },
  { scenario: "create", name: "not JSON", reason: words },
  { scenario: "create", name: "a list", reason: words },
  { scenario: "patch", name: "of a type that cannot be", reason: "the real message repeats the whole object" },
  { scenario: "selectors", name: "a bad selector", reason: words },
  { scenario: "selectors", name: "a bad selector value", reason: words },
  { scenario: "pages", name: "a bad token", reason: words },
  {
    scenario: "custom resources",
    name: "of another version",
    reason: "the refusal is the same; the real server adds a warning about fields that it did not look at",
  },
];
