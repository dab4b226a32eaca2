/** Intended differences from upstream's operator of `spark.apache.org`: rules with their reasons, never single cases. */
import type { Difference } from "../compare.ts";

/** Each rule by its reason. */
const rules: Readonly<Record<string, (difference: Difference) => boolean>> = {
  "the confs of an application come from its spec, and not from the process that submits it": ({ path, ours }) =>
    ours === undefined && /\/spark\.properties\/spark\.kubernetes\.operator\.[\w.]+$/.test(path),
  "the executors of an attempt are found by labels that name the application's UID and the attempt": ({
    path,
    theirs,
  }) =>
    theirs === undefined &&
    /\/spark\.properties\/spark\.kubernetes\.executor\.label\.rekindle\.dev\/(app-uid|attempt)$/.test(path),
  "the properties of a cluster come from its spec, and not from the process that makes it": ({ path, ours }) =>
    ours === undefined && /\/env\/SPARK_\w+_OPTS\/value\/spark\.kubernetes\.operator\.[\w.]+$/.test(path),
  "a StatefulSet selects the pods of its own cluster: two clusters of one namespace share none": ({ path, theirs }) =>
    theirs === undefined &&
    /^StatefulSet [^/]+\/spec\/selector\/matchLabels\/spark\.operator\/spark-cluster-name$/.test(path),
  "an annotation has the digest of what an object of a cluster was made of, so that a changed spec changes it": ({
    path,
    theirs,
  }) => theirs === undefined && /\/metadata\/annotations(?:\/rekindle\.dev\/spec)?$/.test(path),
  "an Ingress without rules gets rules only: it keeps its class and its certificates": ({ path, theirs }) =>
    theirs === undefined && /^Ingress [^/]+\/spec\/(ingressClassName|tls)$/.test(path),
};

/** Returns the reason of an intended difference; undefined if it is not intended. */
export const apacheReason = (difference: Difference): string | undefined =>
  Object.entries(rules).find(([, covers]) => covers(difference))?.[0];
