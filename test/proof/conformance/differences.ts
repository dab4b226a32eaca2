/**
 * Differences between the simulator's answers and the real server's, each with the reason why it may stay and its
 * effect on the proofs.
 */

export type Intended = { readonly scenario: string; readonly name: string; readonly reason: string };

const words =
  "the same status and reason in other words, the innards of the real decoder; no proof rests on it: Rekindle reads the status and the reason";

const unconditional =
  "the simulator's webhooks know no conditions in CEL, so it sends more reviews; the bell takes no key from these, by its own rules";

export const intended: readonly Intended[] = [
  { scenario: "rings of changed pods", name: "a pod of others", reason: unconditional },
  { scenario: "rings of changed pods", name: "a dry run", reason: unconditional },
  { scenario: "create", name: "of another kind", reason: words },
  { scenario: "create", name: "not JSON", reason: words },
  { scenario: "create", name: "a list", reason: words },
  { scenario: "selectors", name: "a bad selector", reason: words },
  { scenario: "selectors", name: "a bad selector value", reason: words },
  { scenario: "pages", name: "a bad token", reason: words },
  { scenario: "custom resources", name: "patched to other labels", reason: words },
  {
    scenario: "custom resources",
    name: "of another version",
    reason:
      "the refusal is the same; the real server adds a warning about fields that it did not look at; no proof rests on it: Rekindle reads no warnings",
  },
];
