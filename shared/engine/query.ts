/** What a decision wants to know: looks at objects as they are, and questions that may stay without an answer. */
import { ApiError } from "../core/errors.ts";
import { isLabelValue, type Ref, type Stored } from "../core/object.ts";
import { type Looking, type ProbeResult, type Query, queryId } from "../core/plan.ts";
import type { Cluster } from "./ports.ts";

/** No object carries what is no label, and the server refuses to look for it. */
const isAskable = (labels: Readonly<Record<string, string>>): boolean => Object.values(labels).every(isLabelValue);

/** What was watched may answer it, where the step allows that. */
const isContent = (query: Query): query is Looking =>
  (query.do === "list" && query.again !== true) || (query.do === "get" && query.known !== undefined);

const isForbidden = (cause: unknown): boolean => cause instanceof ApiError && cause.status === 403;

const isUnserved = (cause: unknown): boolean => cause instanceof ApiError && cause.status === 404;

type Listing = Extract<Query, { do: "list" }>;

/** Undefined where the kind is one that the cluster may do without, and is said not to be served. */
const served = async (cluster: Cluster, query: Listing): Promise<readonly Stored[] | undefined> => {
  try {
    return (await cluster.list(query)).value;
  } catch (cause) {
    if (query.optional === true && isForbidden(cause)) return [];
    if (query.spared === true && isUnserved(cause)) return undefined;
    throw cause;
  }
};

/** A server that has just begun serves no kind for a moment: one such answer is not enough. */
const listed = async (cluster: Cluster, query: Listing): Promise<readonly Stored[]> => {
  if (!isAskable(query.labels)) return [];
  return (await served(cluster, query)) ?? (await served(cluster, query)) ?? [];
};

const look = async (cluster: Cluster, query: Looking): Promise<readonly Stored[]> => {
  if (query.do === "list") return await listed(cluster, query);
  const { value } = await cluster.get(query.ref);
  return value === undefined ? [] : [value];
};

/**
 * What is hidden from us by rights is no trouble here; everything else that is no answer is. What is not there is asked for
 * again: absence ends things, so one answer is not enough for it.
 */
const peek = async (cluster: Cluster, ref: Ref): Promise<ProbeResult> => {
  try {
    const value = (await cluster.get(ref)).value ?? (await cluster.get(ref)).value;
    return { heard: true, value };
  } catch (cause) {
    if (!(cause instanceof ApiError) || cause.status !== 403) throw cause;
    return { heard: false, why: "forbidden", message: cause.message };
  }
};

export type Answers = { readonly seen: Map<string, readonly Stored[]>; readonly heard: Map<string, ProbeResult> };

export const noAnswers = (): Answers => ({ seen: new Map(), heard: new Map() });

/** Answers what a decision wants to know into `answers`: live, but for looks that `known` has an answer to. */
export const answerQuery = async (
  cluster: Cluster,
  query: Query,
  { seen, heard }: Answers,
  known?: (query: Looking) => readonly Stored[] | undefined,
): Promise<void> => {
  const id = queryId(query);
  const watched = isContent(query) ? known?.(query) : undefined;
  if (watched !== undefined) {
    seen.set(id, watched);
    return;
  }
  if (query.do === "ask") heard.set(id, await cluster.ask(query));
  else if (query.do === "peek") heard.set(id, await peek(cluster, query.ref));
  else seen.set(id, await look(cluster, query));
};
