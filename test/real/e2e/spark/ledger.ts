/** Polls all Spark pods and applications, independently of Rekindle, and records them by application. */
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import type { Api } from "../../cluster/api.ts";
import { polling } from "../repeated-look.ts";
import { type Application, application, stateOf } from "../witness.ts";

const container = z.looseObject({
  name: z.string(),
  resources: z
    .object({
      requests: z.record(z.string(), z.string()).default({}),
      limits: z.record(z.string(), z.string()).default({}),
    })
    .default({ requests: {}, limits: {} }),
  env: z.array(z.looseObject({ name: z.string(), value: z.string().optional() })).default([]),
  volumeMounts: z.array(z.looseObject({ name: z.string(), mountPath: z.string() })).default([]),
});

const pod = z.object({
  metadata: z.object({
    name: z.string(),
    uid: z.string(),
    labels: z.record(z.string(), z.string()).default({}),
    annotations: z.record(z.string(), z.string()).default({}),
  }),
  spec: z.looseObject({
    containers: z.array(container),
    volumes: z.array(z.looseObject({ name: z.string() })).default([]),
  }),
  status: z.looseObject({ phase: z.string().default("") }).default({ phase: "" }),
});

export type Pod = z.infer<typeof pod>;

const pods = z.object({ items: z.array(pod) });
const named = application.and(z.object({ metadata: z.object({ name: z.string() }) }));
const applications = z.object({ items: z.array(named) });

/** The record of one application; kept after its deletion. */
export type Page = {
  readonly states: string[];
  last: Application | undefined;
  /** UIDs of driver pods by submission id. */
  readonly drivers: Map<string, Set<string>>;
  /** The newest version of each pod, by UID. */
  readonly pods: Map<string, Pod>;
  mostDrivers: number;
  mostExecutors: number;
  gone: boolean;
};

const hasEnded = ({ status }: Pod): boolean => status.phase === "Succeeded" || status.phase === "Failed";

const blank = (): Page => ({
  states: [],
  last: undefined,
  drivers: new Map(),
  pods: new Map(),
  mostDrivers: 0,
  mostExecutors: 0,
  gone: false,
});

const enter = (page: Page, found: readonly Pod[]): void => {
  const drivers = found.filter(({ metadata }) => metadata.labels["spark-role"] === "driver");
  const executors = found.filter(({ metadata }) => metadata.labels["spark-role"] === "executor");
  for (const one of found) page.pods.set(one.metadata.uid, one);
  for (const { metadata } of drivers) {
    const id = metadata.labels["sparkoperator.k8s.io/submission-id"] ?? "";
    page.drivers.set(id, (page.drivers.get(id) ?? new Set()).add(metadata.uid));
  }
  page.mostDrivers = Math.max(page.mostDrivers, drivers.filter((one) => !hasEnded(one)).length);
  page.mostExecutors = Math.max(page.mostExecutors, executors.filter((one) => !hasEnded(one)).length);
};

/** True if the application shows one of the two final states of a run. */
export const isOver = (page: Page): boolean => ["COMPLETED", "FAILED"].includes(page.states.at(-1) ?? "");

/** Resolves when the application is over, or at the timeout; the caller checks the page. */
export const awaitEnd = async (page: Page, timeoutMs: number): Promise<void> => {
  const until = performance.now() + timeoutMs;
  while (!isOver(page) && performance.now() < until) await sleep(200);
};

const podsPath = `/api/v1/namespaces/default/pods?labelSelector=${encodeURIComponent("sparkoperator.k8s.io/launched-by-spark-operator=true")}`;
const applicationsPath = "/apis/sparkoperator.k8s.io/v1beta2/namespaces/default/sparkapplications";

export type Ledger = {
  /** Returns the page of an application; an empty one if it has not been seen yet. */
  of(name: string): Page;
  /** Resolves as `work` does; rejects if the ledger can no longer read the cluster. */
  during<T>(work: Promise<T>): Promise<T>;
  stop(): Promise<void>;
};

/** Polls every 200 ms until `stop`. */
export const openLedger = (api: Api): Ledger => {
  const pages = new Map<string, Page>();
  const of = (name: string): Page => {
    const page = pages.get(name) ?? blank();
    pages.set(name, page);
    return page;
  };
  const look = async (): Promise<void> => {
    const answers = [await api.call("GET", podsPath), await api.call("GET", applicationsPath)];
    // A new CRD is served a moment later.
    if (answers.some(({ status }) => status === 404)) return;
    const found = pods.parse(answers[0]?.body).items;
    const apps = applications.parse(answers[1]?.body).items;
    const byApp = Map.groupBy(found, (one) => one.metadata.labels["sparkoperator.k8s.io/app-name"] ?? "");
    for (const [name, some] of byApp) enter(of(name), some);
    for (const page of pages.values()) page.gone = true;
    for (const app of apps) {
      const page = of(app.metadata.name);
      page.gone = false;
      page.last = app;
      const state = stateOf(app);
      if (state !== "" && page.states.at(-1) !== state) page.states.push(state);
    }
  };
  return { of, ...polling(look, 200) };
};
