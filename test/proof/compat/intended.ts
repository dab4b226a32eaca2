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

/** Rules for comparisons of these kinds, each by its reason. */
const rulesOf = (kinds: readonly Kind[], covers: Readonly<Record<string, Rule["covers"]>>): readonly Rule[] =>
  Object.entries(covers).map(([reason, isCovered]) => ({ reason, kinds, covers: isCovered }));

const calls: readonly Kind[] = ["client", "executor"];

/** Covers a refusal of ours whose message matches, where Spark's client accepts. */
const refusedHere =
  (words: RegExp) =>
  ({ path, ours }: Difference): boolean =>
    path === "refused" && words.test(`${ours}`);

const claimName = /-driver-pvc-\d+$/;

const rules: readonly Rule[] = [
  ...rulesOf(["template"], {
    "the memory limit of executors is a matter of admission: Spark overwrites a template's": ({ path }) =>
      /\/resources\/limits\/memory$/.test(path),
    "Spark writes these into every executor itself, whatever the template says": ({ path, ours }) =>
      ours === undefined &&
      (/\/(image|resources\/(requests|limits)\/(cpu|memory)|restartPolicy)$/.test(path) ||
        /^Pod \S+\/metadata\/(name|namespace|labels|annotations)/.test(path)),
    "the template alone, before Spark has made an executor of it": ({ path }) =>
      /\/(imagePullPolicy|restartPolicy)$|^Pod \S+\/metadata\//.test(path),
  }),
  ...rulesOf(calls, {
    "a function has no disk that files could be uploaded from: refused, with what to write instead": refusedHere(
      /is a file of the submitting machine|does not exist on the submitting machine/,
    ),
    "the API server would refuse the pod, so it is refused before anything is made": refusedHere(
      /in the format of a quantity|is not a port|Must specify the driver container image/,
    ),
    "the driver would die of it when it makes its first executor": refusedHere(
      /^spark\.executor\.\w+: "[^"]*" is not a size/,
    ),
    "classes cannot be loaded without a JVM: refused, with what to write instead": refusedHere(/no JVM runs here/),
    "Spark's client looks into remote folders before it submits; here it is left to the driver, which has the classes":
      ({ path, ours, theirs }) => path === "refused" && ours === "accepted" && /FileSystem/.test(`${theirs}`),
    "the recorded Spark was built without Volcano; the step needs no class here": ({ path, ours, theirs }) =>
      path === "refused" && ours === "accepted" && /VolcanoFeatureStep/.test(`${theirs}`),
  }),
  ...rulesOf(["client", "executor", "operator", "webhook"], {
    "Spark draws the order of scratch folders by lot": ({ path, ours, theirs }) =>
      /\/volumeMounts\/spark-local-dir-\d+@/.test(path) ||
      (/\/SPARK_LOCAL_DIRS\/value$/.test(path) &&
        `${ours}`.split(",").sort().join() === `${theirs}`.split(",").sort().join()),
  }),
  ...rulesOf(["executor"], {
    "the cost of a pod's deletion tells a Deployment's controller which pod to end; Rekindle's pods belong to none": ({
      path,
      ours,
    }) => ours === undefined && /^Deployment [^/]+\/metadata\/annotations$/.test(path),
    "a Deployment's template has a placeholder where a pod has an id, and a host name cannot have capitals": ({
      path,
      ours,
      theirs,
    }) => /^Deployment [^/]+\/spec\/hostname$/.test(path) && `${ours}`.replace(/EXECID$/, "execid") === theirs,
  }),
  ...rulesOf(calls, {
    "a field that no pod has: the API server would drop it": ({ path, ours }) =>
      ours === undefined && /^Pod [^/\s]+\/(?!apiVersion|kind|metadata|spec)[^/]+$/.test(path),
    "several claims are numbered by the names of their volumes, Spark's by a hash table": ({ path, ours, theirs }) =>
      /\/(claimName|name)$/.test(path) && [ours, theirs].every((name) => claimName.test(`${name}`)) && ours !== theirs,
  }),
];

/** Returns the reason of an intended difference; undefined if it is not intended. */
export const reasonFor = (kind: Kind, difference: Difference): string | undefined =>
  rules.find((rule) => rule.kinds.includes(kind) && rule.covers(difference))?.reason;
