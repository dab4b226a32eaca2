/**
 * Reads of a run's executors: those of the list, those that the list did not show, and, only where a decision depends
 * on it, the driver's own account and demand.
 */
import { all, get, list, proxyGet, type Reads } from "../../../core/decision.ts";
import { attemptLabel, type Stored } from "../../../core/object.ts";
import type { Looking, Query, Wait } from "../../../core/plan.ts";
import { appUidLabel, isEnding, ownedBy } from "../../../kube/pods.ts";
import { claims as claimResource, pods } from "../../../kube/resources.ts";
import { prefixOf } from "../../executor-pod/builder.ts";
import { type Allotment, isLiving, type Member, membersOf, missingOf } from "../../executors/allotment.ts";
import { type ClaimReads, lacksClaim } from "../../executors/claims.ts";
import { type Demand, gaugeIn, gaugeQuery, scaleOf } from "../../executors/demand.ts";
import { type Registered, registeredIn, registeredQuery } from "../../executors/driver-api.ts";
import { type Grants, totalOf, withBase } from "../../executors/grants.ts";
import { hasId, idsOf, listOfIds } from "../../executors/ids.ts";
import type { Ledger } from "../../executors/ledger.ts";
import { regainedAllotment } from "../../executors/lost-allotment.ts";
import { type Admitted, admittedBy, executorsWanted } from "../../executors/owner.ts";
import { type ApplicationContext, bodyOf, executorsAgain, ownSpec } from "../run/context.ts";
import type { Pods } from "../state/evidence.ts";
import { type Driver, isOwnRun, relevant } from "../state/memory.ts";
import { shownExecutors } from "../state/status.ts";

/** The executors that Kueue has admitted with the application itself; undefined where it has no queue label. */
export const baseIn = ({ read, object, kind }: ApplicationContext): Admitted | undefined =>
  read.ok && kind.isQueued ? admittedBy({ ...object.metadata, spec: read.spec }) : undefined;

/** The executors that Kueue has admitted, with growths; undefined where the application has no queue label. */
export const admittedIn = (context: ApplicationContext): Admitted | undefined => {
  const base = baseIn(context);
  const { grown = {} } = context.memory.allotment ?? {};
  return base === undefined ? undefined : { ...base, executors: base.executors + totalOf(grown) };
};

/** The same by the flavors whose quota they use. */
export const grantsIn = (context: ApplicationContext): Grants | undefined => {
  const base = baseIn(context);
  return base === undefined ? undefined : withBase(base.executors, context.memory.allotment?.grown ?? {});
};

/** The number of executors that an own run wants: the driver's demand, or the number in the spec. */
export const wantedIn = ({ read, memory }: ApplicationContext, demand = memory.allotment?.demand): number =>
  read.ok ? executorsWanted(read.spec, demand) : 0;

/** The number of executors that an own run is to have: what it wants, and no more than Kueue has admitted. */
export const expectedOf = (context: ApplicationContext, demand?: Demand): number =>
  Math.min(wantedIn(context, demand), admittedIn(context)?.executors ?? Number.POSITIVE_INFINITY);

/** The wait of an own run that wants more executors than Kueue has admitted. */
export const unadmittedWait = (context: ApplicationContext, demand?: Demand, waits = ""): Pick<Wait, "waitsFor"> => {
  const admitted = admittedIn(context);
  const wanted = wantedIn(context, demand);
  if (admitted === undefined || wanted <= admitted.executors) return {};
  const { queue, executors: granted } = admitted;
  const why = `Kueue has admitted no more in LocalQueue ${queue}${waits === "" ? "" : `: ${waits}`}`.slice(0, 300);
  return { waitsFor: { on: "grant", wanted, granted, why } };
};

/** The most pods that are read one by one; more are read by one list. */
const fewWrong = 8;

type Accounts = Pick<Ledger, "live" | "over">;

const accountsIn = ({ memory: { executors } }: ApplicationContext, { attempt }: Allotment): Accounts =>
  executors?.attempt === attempt ? executors : {};

/** Members whose end is accounted for. */
const overAmong = (
  context: ApplicationContext,
  allotment: Allotment,
  members: readonly Member[],
): readonly Member[] => {
  const over = idsOf(accountsIn(context, allotment).over ?? "");
  return members.filter(({ id }) => hasId(over, id));
};

/** Ids that the list does not show, of executors that the last reads showed; also of those that are being deleted. */
const unlisted = (context: ApplicationContext, allotment: Allotment, members: readonly Member[]): readonly number[] => {
  const there = new Set(members.map(({ id }) => id));
  const live = listOfIds(idsOf(accountsIn(context, allotment).live ?? ""));
  return [...missingOf(allotment, members), ...live.filter((id) => !there.has(id))];
};

/** Ids that the list shows alive although their end is accounted for. */
const revenants = (context: ApplicationContext, allotment: Allotment, members: readonly Member[]): readonly number[] =>
  overAmong(context, allotment, members)
    .filter(isLiving)
    .map(({ id }) => id);

/** Ids that the list shows before their start, and the status as running. */
const notYetStarted = ({ object, memory: { driver } }: ApplicationContext, members: readonly Member[]) => {
  const shown = shownExecutors(object, driver);
  return members
    .filter(({ state, pod }) => state === "pending" && shown[pod.metadata.name] === "RUNNING")
    .map(({ id }) => id);
};

/** Reads again the executors that a list showed wrong: the list may have been behind. */
const queriesFor = (
  { key, view }: ApplicationContext,
  { prefix }: Allotment,
  ids: readonly number[],
): readonly Looking[] => {
  const { namespace } = key;
  if (ids.length > fewWrong)
    return [
      {
        do: "list",
        resource: pods,
        namespace,
        labels: { [appUidLabel]: view.uid, "spark-role": "executor" },
      },
    ];
  return ids.map((id) => ({ do: "get", ref: { resource: pods, namespace, name: `${prefix}-exec-${id}` } }));
};

/** The number of executors that lived at the last look, and that these members do not show alive. */
export const lostSince = ({ memory: { allotment } }: ApplicationContext, members: readonly Member[]): number => {
  const there = new Set(members.filter(isLiving).map(({ id }) => id));
  return listOfIds(idsOf(allotment?.alive ?? "")).filter((id) => !there.has(id)).length;
};

/** True while a read by name shows the driver's pod running. */
export function* isDriverUp({ key, kind }: ApplicationContext, driver: Driver): Reads<boolean> {
  const pod = yield* get(bodyOf(key, driver));
  return pod !== undefined && !isEnding(pod) && kind.runs(pod);
}

/** All executors of the run: the list's, and for those that it showed wrong the result of the second read. */
export function* membersOfRun(
  context: ApplicationContext,
  allotment: Allotment,
  { executors }: Pods,
): Reads<readonly Member[]> {
  const members = membersOf(executors);
  const wrong = new Set([
    ...unlisted(context, allotment, members),
    ...revenants(context, allotment, members),
    ...notYetStarted(context, members),
  ]);
  const found = yield* membersAgain(context, allotment, wrong);
  return [...members.filter(({ id }) => !wrong.has(id)), ...found].sort((a, b) => a.id - b.id);
}

/** The members of these ids, by reads of their own. */
function* membersAgain(
  context: ApplicationContext,
  allotment: Allotment,
  ids: ReadonlySet<number>,
): Reads<readonly Member[]> {
  const lists = yield* all(queriesFor(context, allotment, [...ids]).map(list));
  const owners = [context.view.uid, context.memory.driver?.uid ?? ""];
  const again = lists.flat().filter((pod) => owners.some((uid) => ownedBy(pod, uid)));
  return membersOf(again).filter(({ id }) => ids.has(id));
}

/** The pods of a run with these members in the place of those that the list shows. The same pods if it shows these. */
export const withMembers = (found: Pods, members: readonly Member[]): Pods => {
  const listed = new Set(membersOf(found.executors).map(({ pod }) => pod));
  if (members.length === listed.size && members.every(({ pod }) => listed.has(pod))) return found;
  const others = found.executors.filter((pod) => !listed.has(pod));
  return { ...found, executors: [...others, ...members.map(({ pod }) => pod)] };
};

/**
 * Reads again which of these executors are as the list showed them: a list may be behind, so it alone ends none.
 */
export function* unchangedSince(context: ApplicationContext, executors: readonly Stored[]): Reads<readonly Stored[]> {
  const again = yield* list(executorsAgain(context));
  const versions = new Map(again.map(({ metadata }) => [metadata.uid, metadata.resourceVersion]));
  return executors.filter(({ metadata }) => versions.get(metadata.uid) === metadata.resourceVersion);
}

/**
 * Pods of executors that are over, and that only one of two lists shows: one of the lists is behind. A pod that a read
 * by name does not find either is gone.
 */
function* goneAmong(
  context: ApplicationContext,
  allotment: Allotment,
  lists: readonly [readonly Stored[], readonly Stored[]],
): Reads<ReadonlySet<string>> {
  const [first, second] = lists.map((pods) => new Set(pods.map(({ metadata }) => metadata.uid)));
  const isInBoth = ({ metadata: { uid } }: Stored): boolean => first?.has(uid) === true && second?.has(uid) === true;
  const disputed = overAmong(context, allotment, membersOf(lists.flat().filter((pod) => !isInBoth(pod))));
  const there = yield* membersAgain(context, allotment, new Set(disputed.map(({ id }) => id)));
  const found = new Set(there.map(({ id }) => id));
  return new Set(disputed.filter(({ id }) => !found.has(id)).map(({ pod }) => pod.metadata.uid));
}

/** Lists claims with these labels again. A step reads each query once, so this one is for the application's claims. */
function* claimsAgain(
  { key, view }: ApplicationContext,
  labels: Readonly<Record<string, string>>,
): Reads<readonly Stored[]> {
  const ofApplication = { [appUidLabel]: view.uid };
  const { namespace } = key;
  const all = yield* list({ do: "list", resource: claimResource, namespace, labels: ofApplication });
  return all.filter(({ metadata }) =>
    Object.entries(labels).every(([name, value]) => metadata.labels?.[name] === value),
  );
}

/** Reads live which claims of the run there are, and its executors: those of the list `there`, and those of another. */
export function* readClaims(
  context: ApplicationContext,
  allotment: Allotment,
  there: readonly Stored[],
): Reads<ClaimReads> {
  const { key, view } = context;
  const { namespace } = key;
  const labels = { [appUidLabel]: view.uid, [attemptLabel]: `${allotment.attempt}` };
  const [claims, found] = yield* all([
    list({ do: "list", resource: claimResource, namespace, labels }),
    list({ do: "list", resource: pods, namespace, labels: { ...labels, "spark-role": "executor" } }),
  ]);
  const gone = yield* goneAmong(context, allotment, [there, found]);
  // A pod mounts a claim that the list lacks: the list is behind.
  const listed = lacksClaim(claims, [...there, ...found]) ? yield* claimsAgain(context, labels) : claims;
  // A pod that either list shows may mount its claim.
  return { claims: listed, pods: [...there, ...found].filter(({ metadata }) => !gone.has(metadata.uid)) };
}

/**
 * Restores the allotment of an own run from its pods when the record lost it: Rekindle goes on as their allocator.
 * It asks again whether the driver listens; the number of crashes is lost.
 */
export const regained = (context: ApplicationContext, found: Pods): ApplicationContext => {
  const { memory, object, view, settings, kind } = context;
  const { attempt, driver, allotment: before } = memory;
  if (isOwnRun(memory) || driver?.attempt !== attempt) return context;
  const claimsFrom = view.now + settings.settledMs;
  const prefix = (): string | undefined => {
    const basis = kind.basis(context, driver);
    return basis === undefined ? undefined : prefixOf(basis);
  };
  const allotment = regainedAllotment(found, { attempt, before, claimsFrom, prefix });
  if (allotment === undefined) return context;
  return { ...context, memory: { ...memory, spec: relevant(object, ownSpec(settings)), allotment } };
};

const defaultPort = 4040;

const portOf = ({ read }: ApplicationContext): number => {
  const text = (read.ok ? read.spec.sparkConf?.["spark.ui.port"] : undefined)?.trim() ?? "";
  return /^\d{1,5}$/.test(text) ? Number(text) : defaultPort;
};

/** The most executors in an answer: those that the spec allows at once, and 100 dead ones. */
const mostExecutors = ({ read }: ApplicationContext): number =>
  read.ok ? Math.max(read.spec.executor.instances ?? 0, scaleOf(read.spec)?.most ?? 0) + 100 : 0;

const questionOf = (
  context: ApplicationContext,
  { podName: name, applicationId = "" }: Driver,
): Extract<Query, { do: "proxyGet" }> =>
  registeredQuery(
    { resource: pods, namespace: context.key.namespace, name },
    portOf(context),
    applicationId,
    mostExecutors(context),
  );

/** The registered executors, or why the driver gave no answer. While it answers, its SparkContext has not stopped. */
export type DriverAnswer =
  | { readonly registered: Registered }
  | { readonly registered: undefined; readonly why: string };

export function* askDriver(context: ApplicationContext, driver: Driver): Reads<DriverAnswer> {
  const answer = yield* proxyGet(questionOf(context, driver));
  const registered = registeredIn(answer);
  if (registered !== undefined) return { registered };
  return { registered, why: answer.heard ? "it answered something else" : `${answer.why}: ${answer.message}` };
}

/** The number of executors that the driver needs; undefined where it gives no answer, or an invalid one. */
export function* askGauge(context: ApplicationContext, { podName: name }: Driver): Reads<number | undefined> {
  const pod = { resource: pods, namespace: context.key.namespace, name };
  return gaugeIn(yield* proxyGet(gaugeQuery(pod, portOf(context))));
}
