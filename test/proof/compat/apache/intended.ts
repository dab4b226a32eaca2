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
    reason: "the properties of a cluster come from its spec, and not from the process that makes it",
    covers: ({ path, ours }) =>
      ours === undefined && /\/env\/SPARK_\w+_OPTS\/value\/spark\.kubernetes\.operator\.[\w.]+$/.test(path),
  },
  {
    reason: "a StatefulSet selects the pods of its own cluster: two clusters of one namespace share none",
    covers: ({ path, theirs }) =>
      theirs === undefined &&
      /^StatefulSet [^/]+\/spec\/selector\/matchLabels\/spark\.operator\/spark-cluster-name$/.test(path),
  },
  {
    reason:
      "an annotation has the digest of what an object of a cluster was made of, so that a changed spec changes it",
    covers: ({ path, theirs }) =>
      theirs === undefined && /\/metadata\/annotations(?:\/rekindle\.dev\/spec)?$/.test(path),
  },
  {
    reason: "an Ingress without rules gets rules only: it keeps its class and its certificates",
    covers: ({ path, theirs }) => theirs === undefined && /^Ingress [^/]+\/spec\/(ingressClassName|tls)$/.test(path),
  },
];

/** Returns the reason of an intended difference; undefined if it is not intended. */
export const apacheReason = (difference: Difference): string | undefined =>
  rules.find(({ covers }) => covers(difference))?.reason;
