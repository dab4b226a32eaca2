/** The pods of an application as log and forward need them: the main one, an executor by its id, those of a job's task. */
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { pages } from "../../adapters/kubernetes/requests.ts";
import { isLabelValue, type Stored } from "../../core/object.ts";
import { inOrder, labelOf, mayBelongTo, podStatus } from "../../kube/pods.ts";
import { pods as podResource } from "../../kube/resources.ts";
import { Refused } from "../io/failure.ts";
import { columns } from "../io/text.ts";
import type { Session } from "../io/tools.ts";
import { jobs, keys } from "../kinds/job-shape.ts";
import type { ObjectState } from "../kinds/kind.ts";
import { fullName, shortName, type Target } from "./target.ts";

export type Life = { readonly object: Stored; readonly state: ObjectState; readonly pods: readonly Stored[] };

/** The object and its pods; undefined when there is no such object. */
export const lifeOf = async ({ transport }: Session, { kind, key }: Target): Promise<Life | undefined> => {
  const { namespace, name } = key;
  const cluster = openCluster(transport);
  const { value: object } = await cluster.get({ resource: kind.resource, namespace, name });
  if (object === undefined) return undefined;
  const labels = kind.podLabels(name);
  const query = { do: "list", resource: podResource, namespace, labels } as const;
  const { value } = Object.values(labels).every(isLabelValue) ? await cluster.list(query) : { value: [] };
  return {
    object,
    state: kind.stateOf(object),
    pods: inOrder(value.filter((pod) => mayBelongTo(pod, kind.resource.kind, object.metadata.uid))),
  };
};

const byAge = (a: Stored, b: Stored): number =>
  (a.metadata.creationTimestamp ?? "").localeCompare(b.metadata.creationTimestamp ?? "");

const executors = (pods: readonly Stored[]): readonly Stored[] =>
  pods.filter((pod) => labelOf(pod, "spark-exec-id") !== undefined).toSorted(byAge);

/** The user's choice of a pod; empty: the main pod. */
export type Which = {
  /** Id of an executor. */
  readonly executor?: string | undefined;
  /** Its name, or what its name ends with. */
  readonly pod?: string | undefined;
  /** Task of a Job, and an ordinal within it. */
  readonly task?: string | undefined;
  readonly index?: number | undefined;
};

const taskOf = (pod: Stored): string | undefined => labelOf(pod, keys.taskSpec);
const indexOf = (pod: Stored): string | undefined => labelOf(pod, keys.taskIndex);

const isNamed = ({ metadata: { name } }: Stored, { key }: Target, text: string): boolean =>
  name === text || name === `${key.name}-${text}`;

/** The newest of each name. */
const newest = (pods: readonly Stored[]): readonly Stored[] => [
  ...new Map(pods.toSorted(byAge).map((pod) => [pod.metadata.name, pod])).values(),
];

/** True for a kind of which each object has pods of several tasks, none of which is the main one. */
const hasTasks = ({ kind }: Target): boolean => kind.resource.kind === jobs.kind;

/** The pods of a choice: driver or server, the executor of an id, or pods of a task; of several attempts the newest. */
export const podsMeant = (target: Target, life: Life, which: Which): readonly Stored[] => {
  const { executor, pod, task, index } = which;
  if (executor !== undefined)
    return executors(life.pods)
      .filter((one) => labelOf(one, "spark-exec-id") === executor)
      .slice(-1);
  if (pod !== undefined) return newest(life.pods.filter((one) => isNamed(one, target, pod)));
  if (task !== undefined || index !== undefined || hasTasks(target))
    return newest(life.pods).filter(
      (one) => (task === undefined || taskOf(one) === task) && (index === undefined || indexOf(one) === String(index)),
    );
  const name = target.kind.mainPod(life.object, life.pods);
  return life.pods.filter(({ metadata }) => metadata.name === name).slice(-1);
};

/** The one pod of a choice; undefined where there is none, or several. */
export const podOf = (target: Target, life: Life, which: Which): Stored | undefined => {
  const found = podsMeant(target, life, which);
  return found.length === 1 ? found[0] : undefined;
};

/** A table of pods for the user to choose from. */
export const podsText = (pods: readonly Stored[]): string =>
  columns([
    ["POD", "TASK", "INDEX", "PHASE"],
    ...newest(pods).map((pod) => [
      pod.metadata.name,
      taskOf(pod) ?? "",
      indexOf(pod) ?? "",
      podStatus(pod).phase ?? "Unknown",
    ]),
  ]);

const wordsOf = ({ executor, pod, task, index }: Which): string =>
  [
    executor === undefined ? "" : `executor ${executor}`,
    pod === undefined ? "" : `pod ${pod}`,
    task === undefined ? "" : `pod of task ${task}`,
    index === undefined ? "" : `pod with index ${index}`,
  ]
    .filter((word) => word !== "")
    .join(", ");

const thereAre = (known: readonly (string | undefined)[]): string => {
  const names = [...new Set(known.filter((one) => one !== undefined))];
  return names.length === 0 ? "none is there" : `there are ${names.slice(0, 20).join(", ")}`;
};

/** Lists the jobs that an object has created: their pods have the logs. */
const jobsOf = async ({ transport }: Session, { key }: Target, { object }: Life): Promise<readonly string[]> => {
  const found: Stored[] = [];
  for await (const page of pages(transport, { resource: jobs, namespace: key.namespace, metadataOnly: true }))
    found.push(...page.items);
  return found
    .filter(({ metadata }) => metadata.ownerReferences?.some(({ uid }) => uid === object.metadata.uid) === true)
    .toSorted(byAge)
    .map(({ metadata }) => fullName({ kind: jobs.kind, namespace: key.namespace, name: metadata.name }));
};

const makers: readonly string[] = ["CronJob", "JobFlow"];

/** True for kinds whose objects have no pods: only the jobs that they create have. */
export const hasNoPods = ({ key }: Target): boolean => makers.includes(key.kind);

/** The error for a pod that does not exist. It names those that exist. */
export const noPod = async (session: Session, target: Target, life: Life, which: Which): Promise<Refused> => {
  const { key } = target;
  const name = `${key.namespace}/${key.name}`;
  const wanted = wordsOf(which);
  if (hasNoPods(target)) {
    const made = await jobsOf(session, target, life);
    const hint = made.length === 0 ? "it has none yet" : `log ${made.slice(-5).join(" or ")}`;
    return new Refused(`a ${key.kind} has no pods of its own, its jobs have: ${hint}`);
  }
  if (which.executor !== undefined)
    return new Refused(
      `${name} has no ${wanted}: ${thereAre(executors(life.pods).map((pod) => labelOf(pod, "spark-exec-id")))}`,
    );
  if (wanted !== "")
    return new Refused(`${name} has no ${wanted}: ${thereAre(life.pods.map(({ metadata }) => metadata.name))}`);
  const what = hasTasks(target) ? "pod" : "driver pod";
  return new Refused(
    `${name} has no ${what} (${life.state.state}); see what it waits for: rekindle status ${shortName(key)}`,
  );
};
