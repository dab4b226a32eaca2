/** Records every version of every Job and of its pods that the API shows, independently of Rekindle. */
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { metadata } from "../../../support/standins.ts";
import { type Listener, openApi } from "../../cluster/node/api.ts";

const count = z.number().default(0);

const job = z.object({
  metadata,
  status: z
    .looseObject({
      state: z
        .looseObject({ phase: z.string().default(""), message: z.string().default("") })
        .default({ phase: "", message: "" }),
      ...{ pending: count, running: count, succeeded: count, failed: count, terminating: count },
      ...{ version: count, retryCount: count },
    })
    .optional(),
});

export type Job = z.infer<typeof job>;

const pod = z.object({
  metadata,
  status: z.looseObject({ phase: z.string().default("") }).default({ phase: "" }),
});

export type Pod = z.infer<typeof pod>;

/** The record of one Job; kept after its deletion. */
export type Page = {
  /** Phases in the order in which the API showed them. */
  readonly phases: string[];
  last: Job | undefined;
  gone: boolean;
  /** The newest version of each of its pods, by UID. */
  readonly pods: Map<string, Pod>;
  /** UIDs of the pods that exist. */
  readonly present: Set<string>;
};

type Followed = { metadata: { uid: string; resourceVersion: string } };

export type Book = {
  /** Returns the page of a Job; an empty one if the Job has not been seen yet. */
  of(namespace: string, name: string): Page;
  /** Returns the pages of all Jobs of a namespace. */
  within(namespace: string): readonly [name: string, page: Page][];
  stop(): void;
};

const blank = (): Page => ({ phases: [], last: undefined, gone: false, pods: new Map(), present: new Set() });

export const phaseOf = ({ last }: Page): string => last?.status?.state.phase ?? "";

/** Returns the pods that exist and are not being deleted. */
export const podsOf = ({ pods, present }: Page): readonly Pod[] =>
  [...pods.values()].filter(
    ({ metadata: { uid, deletionTimestamp } }) => present.has(uid) && deletionTimestamp === undefined,
  );

export const uidsOf = (page: Page): readonly string[] => podsOf(page).map((one) => one.metadata.uid);

const listening = (
  put: (one: Followed) => void,
  gone: (one: Followed) => void,
  known: () => readonly Followed[],
): Listener<Followed> => ({
  put,
  gone,
  all: (items) => {
    const uids = new Set(items.map(({ metadata: { uid } }) => uid));
    for (const one of known()) if (!uids.has(one.metadata.uid)) gone(one);
    for (const one of items) put(one);
  },
});

/** Follows Jobs and pods until `stop`. */
export const openBook = async (kubeconfig: string): Promise<Book> => {
  const api = await openApi(kubeconfig);
  const pages = new Map<string, Page>();
  const pageOf = (namespace: string, name: string): Page => {
    const key = `${namespace}/${name}`;
    const page = pages.get(key) ?? blank();
    pages.set(key, page);
    return page;
  };
  const enterJob = (one: Followed): void => {
    const seen = job.parse(one);
    const page = pageOf(seen.metadata.namespace, seen.metadata.name);
    page.last = seen;
    page.gone = false;
    const phase = phaseOf(page);
    if (phase !== "" && page.phases.at(-1) !== phase) page.phases.push(phase);
  };
  const strikeJob = (one: Followed): void => {
    const { metadata: meta } = job.parse(one);
    pageOf(meta.namespace, meta.name).gone = true;
  };
  const pageOfPod = ({ metadata: meta }: Pod): Page | undefined => {
    const owner = meta.labels["volcano.sh/job-name"];
    return owner === undefined ? undefined : pageOf(meta.namespace, owner);
  };
  const enterPod = (one: Followed): void => {
    const seen = pod.parse(one);
    const page = pageOfPod(seen);
    page?.pods.set(seen.metadata.uid, seen);
    page?.present.add(seen.metadata.uid);
  };
  const strikePod = (one: Followed): void => {
    const seen = pod.parse(one);
    pageOfPod(seen)?.present.delete(seen.metadata.uid);
  };
  const jobsHere = () => [...pages.values()].flatMap(({ last, gone }) => (last === undefined || gone ? [] : [last]));
  const podsHere = () => [...pages.values()].flatMap((page) => [...page.pods.values()]);
  api.follow<Followed>("/apis/batch.volcano.sh/v1alpha1/jobs", listening(enterJob, strikeJob, jobsHere));
  api.follow<Followed>("/api/v1/pods", listening(enterPod, strikePod, podsHere));
  return {
    of: pageOf,
    within: (namespace) =>
      [...pages].flatMap(([key, page]) =>
        key.startsWith(`${namespace}/`) ? [[key.slice(namespace.length + 1), page]] : [],
      ),
    stop: api.close,
  };
};

/** Resolves when the condition holds; throws the state of the Job at the timeout. */
export const until = async (what: string, holds: () => boolean, page: Page, timeoutMs: number): Promise<void> => {
  const end = performance.now() + timeoutMs;
  while (!holds()) {
    if (performance.now() > end) {
      const pods = podsOf(page).map((one) => `${one.metadata.name} ${one.status.phase}`);
      throw new Error(
        `not ${what} after ${timeoutMs / 1_000} s: ${page.phases.join(" → ")}; ${JSON.stringify(page.last?.status)}; ${pods.join(", ")}`,
      );
    }
    await sleep(50);
  }
};
