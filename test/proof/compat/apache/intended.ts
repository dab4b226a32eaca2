/** Intended differences from upstream's operator of `spark.apache.org`: rules with their reasons, never single cases. */
import type { Difference } from "../compare.ts";

type Rule = { readonly reason: string; readonly covers: (difference: Difference) => boolean };

const rules: readonly Rule[] = [
  {
    reason: "the confs of an application come from its spec, and not from the process that submits it",
    covers: ({ path, ours }) =>
      ours === undefined && /\/spark\.properties\/spark\.kubernetes\.operator\.[\w.]+$/.test(path),
  },
  {
    reason: "the executors of an attempt are found by labels that name the application's UID and the attempt",
    covers: ({ path, theirs }) =>
      theirs === undefined &&
      /\/spark\.properties\/spark\.kubernetes\.executor\.label\.rekindle\.dev\/(app-uid|attempt)$/.test(path),
  },
  {
    reason: "an Ingress without rules gets rules only: it keeps its class and its certificates",
    covers: ({ path, theirs }) => theirs === undefined && /^Ingress [^/]+\/spec\/(ingressClassName|tls)$/.test(path),
  },
];

/** Returns the reason of an intended difference; undefined if it is not intended. */
export const apacheReason = (difference: Difference): string | undefined =>
  rules.find(({ covers }) => covers(difference))?.reason;
