/**
 * Polls the applications of `spark.apache.org` and their pods, independently of Rekindle, and records them by
 * application: every state that was ever shown, every driver that ever existed.
 */
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import type { Api } from "../../cluster/api.ts";
import { polling } from "../repeated-look.ts";

const pod = z.object({
  metadata: z.object({
    name: z.string(),
    uid: z.string(),
    labels: z.record(z.string(), z.string()).default({}),
  }),
  spec: z.looseObject({
    volumes: z.array(z.looseObject({ name: z.string(), configMap: z.looseObject({}).optional() })).default([]),
  }),
  status: z.looseObject({ phase: z.string().default("") }).default({ phase: "" }),
});

export type Pod = z.infer<typeof pod>;

const state = z.looseObject({
  currentStateSummary: z.string(),
  lastTransitionTime: z.string(),
  message: z.string().optional(),
  lastObservedDriverStatus: z.looseObject({}).optional(),
});

export type State = z.infer<typeof state>;

const history = z.record(z.string(), state).default({});

const attempt = z.looseObject({ attemptInfo: z.record(z.string(), z.number()), stateTransitionHistory: history });

const application = z.object({
  metadata: z.object({ name: z.string(), uid: z.string() }),
  status: z
    .object({
      currentState: state,
      stateTransitionHistory: history,
      currentAttemptSummary: attempt.optional(),
      previousAttemptSummary: attempt.optional(),
    })
    .optional(),
});

export type Application = z.infer<typeof application>;

/** The record of one application; kept after its deletion. */
export type Page = {
  /** All states that were ever shown, by number. */
  readonly history: Map<number, State>;
  /** Contradictions of a status to an earlier one, or to itself. */
  readonly faults: string[];
  /** UIDs of driver pods by name. */
  readonly drivers: Map<string, Set<string>>;
  /** The newest version of each pod, by UID. */
  readonly pods: Map<string, Pod>;
  /** Epoch ms of the last look that showed the driver. */
  driverSeenAt: number;
  mostDrivers: number;
  last: Application | undefined;
  gone: boolean;
};

const blank = (): Page => ({
  ...{ history: new Map(), faults: [], drivers: new Map(), pods: new Map() },
  ...{ driverSeenAt: 0, mostDrivers: 0, last: undefined, gone: false },
});

const roleOf = ({ metadata }: Pod): string => metadata.labels["spark-role"] ?? "";

const hasEnded = ({ status }: Pod): boolean => status.phase === "Succeeded" || status.phase === "Failed";

export const enterPods = (page: Page, found: readonly Pod[], now: number): void => {
  const drivers = found.filter((one) => roleOf(one) === "driver");
  for (const one of found) page.pods.set(one.metadata.uid, one);
  for (const { metadata } of drivers)
    page.drivers.set(metadata.name, (page.drivers.get(metadata.name) ?? new Set()).add(metadata.uid));
  page.mostDrivers = Math.max(page.mostDrivers, drivers.filter((one) => !hasEnded(one)).length);
  if (drivers.length > 0) page.driverSeenAt = now;
};

/** A status holds all states from the first one of the attempt before, or of all, without a gap; none changes later. */
export const enterApplication = (page: Page, app: Application): void => {
  page.last = app;
  page.gone = false;
  const { status } = app;
  if (status === undefined) return;
  const { currentState, stateTransitionHistory, previousAttemptSummary } = status;
  const shown = { ...previousAttemptSummary?.stateTransitionHistory, ...stateTransitionHistory };
  const numbers = Object.keys(shown)
    .map(Number)
    .toSorted((a, b) => a - b);
  if (numbers.some((number, at) => at > 0 && number !== (numbers[at - 1] ?? 0) + 1))
    page.faults.push(`the states ${numbers.join(", ")} have a gap`);
  const newest = shown[`${numbers.at(-1)}`];
  if (JSON.stringify(newest) !== JSON.stringify(currentState))
    page.faults.push(`${currentState.currentStateSummary} is not the newest of ${numbers.length} states`);
  for (const number of numbers) {
    const one = shown[`${number}`];
    const known = page.history.get(number);
    if (one === undefined) continue;
    if (known === undefined) page.history.set(number, one);
    else if (
      known.currentStateSummary !== one.currentStateSummary ||
      known.lastTransitionTime !== one.lastTransitionTime
    )
      page.faults.push(`state ${number} was ${known.currentStateSummary} and became ${one.currentStateSummary}`);
  }
};

/** The summaries that were shown, in their order. */
export const statesOf = ({ history: shown }: Page): readonly string[] =>
  [...shown].toSorted(([a], [b]) => a - b).map(([, { currentStateSummary }]) => currentStateSummary);

export const currentOf = ({ last }: Page): string => last?.status?.currentState.currentStateSummary ?? "";

export type Book = {
  /** Returns the page of an application; an empty one if it has not been seen yet. */
  of(name: string): Page;
  /** Resolves once the page is so; throws what it shows at the timeout, or if the cluster cannot be read. */
  until(name: string, what: string, is: (page: Page) => boolean, timeoutMs: number): Promise<Page>;
  stop(): Promise<void>;
};

const label = "spark.operator/spark-app-name";
const selected = `labelSelector=${encodeURIComponent(label)}`;

/** Polls a namespace every 150 ms until `stop`. */
export const openBook = (api: Api, namespace = "default"): Book => {
  const podsPath = `/api/v1/namespaces/${namespace}/pods?${selected}`;
  const appsPath = `/apis/spark.apache.org/v1/namespaces/${namespace}/sparkapplications`;
  const pages = new Map<string, Page>();
  const of = (name: string): Page => {
    const page = pages.get(name) ?? blank();
    pages.set(name, page);
    return page;
  };
  const look = async (): Promise<void> => {
    const found = z.object({ items: z.array(pod) }).parse((await api.call("GET", podsPath)).body).items;
    const apps = z.object({ items: z.array(application) }).parse((await api.call("GET", appsPath)).body).items;
    const byApp = Map.groupBy(found, ({ metadata }) => metadata.labels[label] ?? "");
    for (const [name, some] of byApp) enterPods(of(name), some, Date.now());
    for (const page of pages.values()) page.gone = true;
    for (const app of apps) enterApplication(of(app.metadata.name), app);
  };
  const polls = polling(look, 150);
  return {
    of,
    until: async (name, what, is, timeoutMs) => {
      const end = performance.now() + timeoutMs;
      const page = of(name);
      while (!is(page)) {
        const ended = polls.ended();
        if (ended !== undefined) throw new Error(`${name} is not ${what}: ${ended.message}`);
        if (performance.now() > end)
          throw new Error(
            `${name} is not ${what} after ${timeoutMs / 1_000} s: ${statesOf(page).join(" → ")}; ${JSON.stringify(page.last?.status)}`,
          );
        await sleep(100);
      }
      return page;
    },
    stop: polls.stop,
  };
};
