/**
 * The object of a command by its name (name.ts has the forms), and its pods as log and forward need them: the main one,
 * an executor by its id, those of a job's task.
 */
import { openCluster } from "../adapters/kubernetes/cluster.ts";
import { pages } from "../adapters/kubernetes/requests.ts";
import { ApiError } from "../core/http.ts";
import type { Key } from "../core/key.ts";
import { isLabelValue, keyKindOf, type Metadata, type Stored } from "../core/object.ts";
import { nearTo } from "../core/text.ts";
import { isSameKind } from "../kube/declared-kind.ts";
import type { ObjectState } from "../kube/object-state.ts";
import { inOrder, labelOf, mayBelongTo, podStatus } from "../kube/pods.ts";
import { pods as podResource } from "../kube/resources.ts";
import { kinds } from "../registry/kinds.ts";
import { jobs, keys } from "../volcano/schema/resource.ts";
import { notServed, Refused } from "./io/refusal.ts";
import type { Session } from "./io/session.ts";
import { columns } from "./io/text.ts";
import { everyKind, kindNamed, kindNames, kindsNear, usual } from "./kinds/all.ts";
import type { Kind } from "./kinds/kind.ts";
import { partsOf } from "./kinds/name.ts";

export type Target = { readonly kind: Kind; readonly key: Key };

/** The name that every command takes: kind, namespace and name. */
export const fullName = ({ kind, namespace, name }: Omit<Key, "cluster">): string =>
  `${kind.toLowerCase()}/${namespace}/${name}`;

/** The shortest unique name of a key: kinds other than SparkApplication are written. */
export const shortName = (key: Omit<Key, "cluster">): string =>
  key.kind === keyKindOf(usual.resource) ? `${key.namespace}/${key.name}` : fullName(key);

/** A hint with the kinds that resemble an unknown word. */
const kindHint = (word: string): string => {
  const near = kindsNear(word);
  return near.length === 0 ? "" : `; did you mean ${near.join(" or ")}?`;
};

const need = (text: string): Kind => {
  const kind = kindNamed(text);
  if (kind !== undefined) return kind;
  throw new Refused(`${text} is not a kind that Rekindle runs (${kindNames})${kindHint(text)}`);
};

type Parts = {
  /** Undefined: the user wrote none, and all kinds are searched. */
  readonly kind: Kind | undefined;
  readonly namespace: string | undefined;
  readonly name: string;
};

const partsIn = (text: string, namespace: string | undefined): Parts => {
  const { kind, ...place } = partsOf(text, (word) => kindNamed(word) !== undefined, namespace);
  return { kind: kind === undefined ? undefined : need(kind), ...place };
};

const keyOf = (kind: Kind, { namespace, name }: Parts, session: Pick<Session, "namespace">): Key => ({
  cluster: "default",
  kind: keyKindOf(kind.resource),
  namespace: namespace ?? session.namespace ?? "default",
  name,
});

/** The target of a name, found without a request; without a kind a SparkApplication. The cluster alias is not used. */
export const targetOf = (text: string, session: Pick<Session, "namespace">, namespace?: string): Target => {
  const parts = partsIn(text, namespace);
  const kind = parts.kind ?? usual;
  return { kind, key: keyOf(kind, parts, session) };
};

/** Whether the object exists; an error where the caller may not read it, or the kind is not installed. */
const isThere = async ({ transport }: Session, { kind, key }: Target): Promise<boolean | ApiError> => {
  const { namespace, name } = key;
  try {
    return (await openCluster(transport).get({ resource: kind.resource, namespace, name })).value !== undefined;
  } catch (cause) {
    if (cause instanceof ApiError && (cause.status === 403 || notServed(cause))) return cause;
    throw cause;
  }
};

/** Metadata of a kind's objects; none without the right to list them, or without their CRD. Namespace "": all. */
const namesOf = async ({ transport }: Session, kind: Kind, namespace: string): Promise<readonly Metadata[]> => {
  const found: Metadata[] = [];
  try {
    for await (const page of pages(transport, { resource: kind.resource, namespace, metadataOnly: true }))
      found.push(...page.items.map(({ metadata }) => metadata));
  } catch (cause) {
    if (!(cause instanceof ApiError) || (cause.status !== 403 && !notServed(cause))) throw cause;
  }
  return found;
};

const mostHints = 5;

/** Objects that the user may mean: similar names in the namespace, and the same name in others. */
const nearObjects = async (session: Session, { namespace, name }: Key, kinds: readonly Kind[]) => {
  const of = async (kind: Kind): Promise<readonly string[]> => {
    const own = await namesOf(session, kind, namespace);
    const elsewhere = (await namesOf(session, kind, "")).filter((one) => one.name === name);
    const near = nearTo(name, [...new Set(own.map((one) => one.name))]);
    const known = [...elsewhere, ...near.map((one) => ({ name: one, namespace }))];
    return known.map((one) =>
      fullName({ kind: keyKindOf(kind.resource), namespace: one.namespace ?? namespace, name: one.name }),
    );
  };
  return [...new Set((await Promise.all(kinds.map(of))).flat())].slice(0, mostHints);
};

const nothing = "there is no ";

/** True for the error of a missing object, whatever its hint. */
export const isMissing = (cause: unknown): boolean => cause instanceof Refused && cause.message.startsWith(nothing);

/** The error for a missing object, of one kind or of any. */
export const absent = (key: Key, kinds: readonly Kind[], near: readonly string[] = []): Refused => {
  const [only] = kinds;
  const what = kinds.length === 1 && only !== undefined ? only.resource.kind : "application of any kind";
  const hint = near.length === 0 ? "see them all with: rekindle list" : `did you mean ${near.join(" or ")}?`;
  return new Refused(`${nothing}${what} ${key.namespace}/${key.name}; ${hint}`);
};

/** The same error, with similar objects as its hint. */
export const missing = async (session: Session, key: Key, kinds: readonly Kind[] = everyKind): Promise<Refused> =>
  absent(key, kinds, await nearObjects(session, key, kinds));

/** The error for a name that several objects have. */
export const ambiguous = (found: readonly Key[]): Refused =>
  new Refused(`several have this name: write ${found.map(fullName).join(" or ")}`);

/** Finds the object of this name among all kinds. SparkApplications come first. */
const searched = async (session: Session, parts: Parts): Promise<Target> => {
  const targets = everyKind.map((kind): Target => ({ kind, key: keyOf(kind, parts, session) }));
  const first = targets.filter(({ kind }) => kind === usual);
  for (const some of [first, targets.filter((one) => !first.includes(one))]) {
    const answers = await Promise.all(some.map((target) => isThere(session, target)));
    const found = some.filter((_, at) => answers[at] === true);
    const [one, another] = found;
    if (one !== undefined && another === undefined) return one;
    if (one !== undefined) throw ambiguous(found.map(({ key }) => key));
    const refusals = answers.filter((answer) => answer instanceof ApiError);
    const [refusal] = refusals;
    if (some !== first && refusals.length === some.length && refusal !== undefined) throw refusal;
  }
  const key = keyOf(usual, parts, session);
  const refused = await missing(session, key);
  throw new Refused(`${refused.message}${parts.namespace === undefined ? "" : kindHint(parts.namespace)}`);
};

/** The object of a name; without a kind, all kinds are searched. */
export const findTarget = async (text: string, session: Session, namespace?: string): Promise<Target> => {
  const parts = partsIn(text, namespace);
  return parts.kind === undefined ? await searched(session, parts) : targetOf(text, session, namespace);
};

export type Life = { readonly object: Stored; readonly state: ObjectState; readonly pods: readonly Stored[] };

/** The object and its pods; undefined when there is no such object. */
export const lifeOf = async (
  { transport }: Pick<Session, "transport">,
  { kind, key }: Target,
): Promise<Life | undefined> => {
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
    pods: inOrder(value.filter((pod) => mayBelongTo(pod, kind.resource, object.metadata.uid))),
  };
};

/** One line for a command whose timeout has passed: the state in which the application continues. */
export const stillText = async (session: Session, target: Target): Promise<string> => {
  const name = shortName(target.key);
  const life = await lifeOf(session, target);
  if (life === undefined) return `the timeout has passed, and ${name} was deleted`;
  const { state, ended } = life.state;
  return ended === undefined
    ? `${name} is still ${state}; it continues: rekindle status ${name}`
    : `the timeout has passed; ${name} is ${state}`;
};

const byAge = (a: Stored, b: Stored): number =>
  (a.metadata.creationTimestamp ?? "").localeCompare(b.metadata.creationTimestamp ?? "");

const executors = (pods: readonly Stored[]): readonly Stored[] =>
  pods.filter((pod) => labelOf(pod, "spark-exec-id") !== undefined).toSorted(byAge);

/** The user's choice of a pod; empty: the main pod. */
export type PodChoice = {
  /** Id of an executor. */
  readonly executor?: string | undefined;
  /** Its name, or what its name ends with. */
  readonly pod?: string | undefined;
  /** Task of a Job, and an ordinal within it. */
  readonly task?: string | undefined;
  readonly index?: number | undefined;
};

export const taskOf = (pod: Stored): string | undefined => labelOf(pod, keys.taskSpec);
export const indexOf = (pod: Stored): string | undefined => labelOf(pod, keys.taskIndex);

const isNamed = ({ metadata: { name } }: Stored, { key }: Target, text: string): boolean =>
  name === text || name === `${key.name}-${text}`;

/** The newest of each name. */
const newest = (pods: readonly Stored[]): readonly Stored[] => [
  ...new Map(pods.toSorted(byAge).map((pod) => [pod.metadata.name, pod])).values(),
];

/** True for a kind of which each object has pods of several tasks, none of which is the main one. */
const hasTasks = ({ kind }: Target): boolean => kind.resource.kind === jobs.kind;

/** The pods of a choice: driver or server, the executor of an id, or pods of a task; of several attempts the newest. */
export const podsMeant = (target: Target, life: Life, which: PodChoice): readonly Stored[] => {
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
export const podOf = (target: Target, life: Life, which: PodChoice): Stored | undefined => {
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

const wordsOf = ({ executor, pod, task, index }: PodChoice): string =>
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

/** True for kinds whose objects have no pods: only the jobs that they create have. */
export const hasNoPods = ({ kind }: Target): boolean =>
  kinds.some(({ resource, creates }) => creates === jobs && isSameKind(resource, kind.resource));

/** The error for a pod that does not exist. It names those that exist. */
export const noPod = async (session: Session, target: Target, life: Life, which: PodChoice): Promise<Refused> => {
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
