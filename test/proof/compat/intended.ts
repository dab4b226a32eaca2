/** Intended differences from upstream and Spark, beside additions: rules with their reasons, never single cases. */
import type { Difference } from "./compare.ts";

/**
 * The subject of a comparison: a real client's call, a real driver's executors, upstream's operator without its
 * webhook, the same with its webhook, or the executor template alone.
 */
export type Kind = "client" | "executor" | "operator" | "webhook" | "template";

type Rule = {
  readonly reason: string;
  readonly kinds: readonly Kind[];
  readonly covers: (difference: Difference) => boolean;
};

const calls: readonly Kind[] = ["client", "executor"];

/** Covers a refusal of ours whose message matches, where Spark's client accepts. */
const refusedHere =
  (words: RegExp) =>
  ({ path, ours }: Difference): boolean =>
    path === "refused" && words.test(`${ours}`);

const claimName = /-driver-pvc-\d+$/;

const rules: readonly Rule[] = [
  {
    reason: "the memory limit of executors is a matter of admission: Spark overwrites a template's",
    kinds: ["template"],
    covers: ({ path }) => /\/resources\/limits\/memory$/.test(path),
  },
  {
    reason: "Spark writes these into every executor itself, whatever the template says",
    kinds: ["template"],
    covers: ({ path, ours }) =>
      ours === undefined &&
      (/\/(image|resources\/(requests|limits)\/(cpu|memory)|restartPolicy)$/.test(path) ||
        /^Pod \S+\/metadata\/(name|namespace|labels|annotations)/.test(path)),
  },
  {
    reason: "the template alone, before Spark has made an executor of it",
    kinds: ["template"],
    covers: ({ path }) => /\/(imagePullPolicy|restartPolicy)$|^Pod \S+\/metadata\//.test(path),
  },
  {
    reason: "a function has no disk that files could be uploaded from: refused, with what to write instead",
    kinds: calls,
    covers: refusedHere(/is a file of the submitting machine|does not exist on the submitting machine/),
  },
  {
    reason: "the API server would refuse the pod, so it is refused before anything is made",
    kinds: calls,
    covers: refusedHere(/in the format of a quantity|is not a port|Must specify the driver container image/),
  },
  {
    reason: "the driver would die of it when it makes its first executor",
    kinds: calls,
    covers: refusedHere(/^spark\.executor\.\w+: "[^"]*" is not a size/),
  },
  {
    reason: "classes cannot be loaded without a JVM: refused, with what to write instead",
    kinds: calls,
    covers: refusedHere(/no JVM runs here/),
  },
  {
    reason:
      "Spark's client looks into remote folders before it submits; here it is left to the driver, which has the classes",
    kinds: calls,
    covers: ({ path, ours, theirs }) => path === "refused" && ours === "accepted" && /FileSystem/.test(`${theirs}`),
  },
  {
    reason: "the recorded Spark was built without Volcano; the step needs no class here",
    kinds: calls,
    covers: ({ path, ours, theirs }) =>
      path === "refused" && ours === "accepted" && /VolcanoFeatureStep/.test(`${theirs}`),
  },
  {
    reason: "Spark draws the order of scratch folders by lot",
    kinds: ["client", "executor", "operator", "webhook"],
    covers: ({ path, ours, theirs }) =>
      /\/volumeMounts\/spark-local-dir-\d+@/.test(path) ||
      (/\/SPARK_LOCAL_DIRS\/value$/.test(path) &&
        `${ours}`.split(",").sort().join() === `${theirs}`.split(",").sort().join()),
  },
  {
    reason:
      "the cost of a pod's deletion tells a Deployment's controller which pod to end; Rekindle's pods belong to none",
    kinds: ["executor"],
    covers: ({ path, ours }) => ours === undefined && /^Deployment [^/]+\/metadata\/annotations$/.test(path),
  },
  {
    reason: "a Deployment's template has a placeholder where a pod has an id, and a host name cannot have capitals",
    kinds: ["executor"],
    covers: ({ path, ours, theirs }) =>
      /^Deployment [^/]+\/spec\/hostname$/.test(path) && `${ours}`.replace(/EXECID$/, "execid") === theirs,
  },
  {
    reason: "a field that no pod has: the API server would drop it",
    kinds: calls,
    covers: ({ path, ours }) =>
      ours === undefined && /^Pod [^/\s]+\/(?!apiVersion|kind|metadata|spec)[^/]+$/.test(path),
  },
  {
    reason: "several claims are numbered by the names of their volumes, Spark's by a hash table",
    kinds: calls,
    covers: ({ path, ours, theirs }) =>
      /\/(claimName|name)$/.test(path) && [ours, theirs].every((name) => claimName.test(`${name}`)) && ours !== theirs,
  },
];

/** Returns the reason of an intended difference; undefined if it is not intended. */
export const reasonFor = (kind: Kind, difference: Difference): string | undefined =>
  rules.find((rule) => rule.kinds.includes(kind) && rule.covers(difference))?.reason;
