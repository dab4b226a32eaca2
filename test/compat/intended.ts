/** Where we differ from upstream and Spark on purpose: rules with their reasons, never single cases. */
import type { Difference } from "./compare.ts";
import { isRecord } from "./compare.ts";

/** What is compared: a real client's call, or an application with upstream's operator, with its webhook or without. */
export type Kind = "client" | "operator" | "webhook" | "executor";

type Rule = {
  readonly reason: string;
  readonly kinds: readonly Kind[];
  readonly covers: (difference: Difference) => boolean;
};

const created = /^(Service|ConfigMap|Secret|PersistentVolumeClaim|NetworkPolicy|PodGroup) \S+\//;
const operators: readonly Kind[] = ["operator", "webhook"];
const confKey = (path: string): string => /\/data\/spark\.properties\/([\s\S]+)$/.exec(path)?.[1] ?? "";

const ours = (label: string): boolean => label.startsWith("rekindle.dev/") || label.startsWith("sparkoperator.k8s.io/");

/** A whole map that upstream does not have, made of our labels alone. */
const onlyOurs = ({ ours: value, theirs }: Difference): boolean =>
  theirs === undefined && isRecord(value) && Object.keys(value).every(ours);

const rules: readonly Rule[] = [
  {
    reason: "made before the driver pod, so that the kubelet finds it: the application owns it, not the pod",
    kinds: ["client", "operator", "webhook"],
    covers: ({ path }) => created.test(path) && /\/metadata\/ownerReferences(\/|$)/.test(path),
  },
  {
    reason: "everything of an attempt is found by its labels",
    kinds: operators,
    covers: (difference) =>
      difference.theirs === undefined &&
      (/\/metadata\/labels\/(rekindle\.dev|sparkoperator\.k8s\.io)\//.test(difference.path) ||
        (/\/metadata\/labels$/.test(difference.path) && onlyOurs(difference))),
  },
  {
    reason: "the label says the application's Spark; upstream's says the Spark of its own submitter image",
    kinds: operators,
    covers: ({ path }) => /\/(labels|selector)\/spark-version$/.test(path),
  },
  {
    reason: "the user of upstream's image and Spark's images; the recording was made by root",
    kinds: operators,
    covers: ({ path, theirs }) => /\/env\/SPARK_USER\/value$/.test(path) && theirs === "root",
  },
  {
    reason: "Spark deletes the evidence of a loss 90 ms after it",
    kinds: operators,
    covers: ({ path, theirs }) =>
      confKey(path) === "spark.kubernetes.executor.deleteOnTermination" && theirs === undefined,
  },
  {
    reason: "Spark 4.1 and later overwrite the grace period of a template, so the conf says it",
    kinds: operators,
    covers: ({ path, theirs }) =>
      confKey(path) === "spark.kubernetes.executor.terminationGracePeriodSeconds" && theirs === undefined,
  },
  {
    reason: "the moment of the submission",
    kinds: ["client", "operator", "webhook"],
    covers: ({ path }) => confKey(path) === "spark.app.submitTime",
  },
  {
    reason: "upstream has no defaults without its webhook; ours are applied where a spec is read",
    kinds: ["operator"],
    covers: ({ path, theirs }) =>
      /^spark\.(driver|executor)\.(cores|memory|instances)$/.test(confKey(path)) && theirs === undefined,
  },
  {
    reason: "what upstream's pod webhook adds to executors stands in their template: no webhook is needed",
    kinds: ["webhook"],
    covers: ({ path, theirs }) => /\/data\/podspec-configmap-key\/spec\//.test(path) && theirs === undefined,
  },
  {
    reason: "executors are found by the labels of their attempt, too",
    kinds: operators,
    covers: (difference) => /\/podspec-configmap-key\/metadata\/labels$/.test(difference.path) && onlyOurs(difference),
  },
  {
    reason: "the memory limit of executors is a matter of admission: Spark overwrites a template's",
    kinds: ["executor"],
    covers: ({ path }) => /\/resources\/limits\/memory$/.test(path),
  },
  {
    reason: "the template tells admission the memory limit of executors",
    kinds: operators,
    covers: (difference) =>
      (/\/podspec-configmap-key\/metadata\/annotations$/.test(difference.path) && onlyOurs(difference)) ||
      /\/metadata\/annotations\/rekindle\.dev\/memory-limit$/.test(difference.path),
  },
  {
    reason: "Spark writes these into every executor itself, whatever the template says",
    kinds: ["executor"],
    covers: ({ path, ours: value }) =>
      value === undefined &&
      (/\/(image|resources\/(requests|limits)\/(cpu|memory)|restartPolicy)$/.test(path) ||
        /^Pod \S+\/metadata\/(name|namespace|labels|annotations)/.test(path)),
  },
  {
    reason: "the template alone, before Spark has made an executor of it",
    kinds: ["executor"],
    covers: ({ path }) => /\/(imagePullPolicy|restartPolicy)$|^Pod \S+\/metadata\//.test(path),
  },
  {
    reason: "a function has no disk that files could be uploaded from: refused, with what to write instead",
    kinds: ["client"],
    covers: ({ path, ours: value }) =>
      path === "refused" &&
      /is a file of the submitting machine|does not exist on the submitting machine/.test(`${value}`),
  },
  {
    reason: "the same refusal in our words, which also say what to change",
    kinds: ["client"],
    covers: ({ path, ours: value, theirs }) => path === "words" && value !== undefined && theirs !== undefined,
  },
  {
    reason: "no quantity: the API server would refuse the pod, so it is refused before anything is made",
    kinds: ["client"],
    covers: ({ path, ours: value }) => path === "refused" && /is not a quantity/.test(`${value}`),
  },
  {
    reason: "the recorded Spark was built without Volcano; the step needs no class here",
    kinds: ["client"],
    covers: ({ path, ours: value, theirs }) =>
      path === "refused" && value === "accepted" && /VolcanoFeatureStep/.test(`${theirs}`),
  },
  {
    reason: "Spark draws the order of scratch folders by lot",
    kinds: ["client", "operator", "webhook"],
    covers: ({ path, ours: value, theirs }) =>
      /\/SPARK_LOCAL_DIRS\/value$/.test(path) &&
      `${value}`.split(",").sort().join() === `${theirs}`.split(",").sort().join(),
  },
  {
    reason: "several claims are numbered by the names of their volumes, Spark's by a hash table",
    kinds: ["client"],
    covers: ({ path, ours: value, theirs }) =>
      /\/(claimName|name)$/.test(path) &&
      [value, theirs].every((name) => /-driver-pvc-\d+$/.test(`${name}`)) &&
      value !== theirs,
  },
  {
    reason: "classes cannot be loaded without a JVM: refused, with what to write instead",
    kinds: ["client"],
    covers: ({ path, ours: value }) => path === "refused" && /no JVM runs here/.test(`${value}`),
  },
];

/** Why a difference is meant; undefined when it is not. */
export const reasonFor = (kind: Kind, difference: Difference): string | undefined =>
  rules.find((rule) => rule.kinds.includes(kind) && rule.covers(difference))?.reason;
