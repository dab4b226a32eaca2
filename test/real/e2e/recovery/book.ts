/** Records every executor of every application, independently of Rekindle, to check the ledger against it. */
import * as z from "zod";
import type { Api } from "../../cluster/api.ts";
import { polling } from "../repeated-look.ts";

const executor = z.object({
  metadata: z.object({
    name: z.string(),
    uid: z.string(),
    creationTimestamp: z.string(),
    deletionTimestamp: z.string().optional(),
    labels: z.record(z.string(), z.string()).default({}),
  }),
  spec: z.object({ nodeName: z.string().optional() }),
  status: z
    .object({
      phase: z.string().default(""),
      containerStatuses: z.array(z.object({ state: z.record(z.string(), z.unknown()).default({}) })).default([]),
    })
    .default({ phase: "", containerStatuses: [] }),
});

export type Executor = z.infer<typeof executor>;

const executors = z.object({ items: z.array(executor) });

const path = `/api/v1/namespaces/default/pods?labelSelector=${encodeURIComponent("spark-role=executor")}`;

export const idOf = ({ metadata }: Executor): string => metadata.labels["spark-exec-id"] ?? "";
const appOf = ({ metadata }: Executor): string => metadata.labels["sparkoperator.k8s.io/app-name"] ?? "";

/** True if the API shows the executor as running and its deletion has not been requested. */
export const isUp = ({ metadata, status }: Executor): boolean =>
  status.phase === "Running" &&
  metadata.deletionTimestamp === undefined &&
  status.containerStatuses.every(({ state }) => "running" in state);

export type Book = {
  /** The newest version of every executor that an application ever had, by UID. */
  of(app: string): ReadonlyMap<string, Executor>;
  /** The executors of the application at the newest reading. */
  now(app: string): readonly Executor[];
  /** Ids that more than one pod has had. */
  doubled(app: string): readonly string[];
  stop(): Promise<void>;
};

const blank = (): { all: Map<string, Executor>; now: readonly Executor[] } => ({ all: new Map(), now: [] });

/** Polls every 150 ms until `stop`; a failed reading is repeated. */
export const openBook = (api: Api): Book => {
  const pages = new Map<string, ReturnType<typeof blank>>();
  const pageOf = (app: string) => {
    const page = pages.get(app) ?? blank();
    pages.set(app, page);
    return page;
  };
  const look = async (): Promise<void> => {
    const { items } = executors.parse((await api.call("GET", path)).body);
    const byApp = Map.groupBy(items, appOf);
    for (const app of [...pages.keys(), ...byApp.keys()]) {
      const page = pageOf(app);
      page.now = byApp.get(app) ?? [];
      for (const one of page.now) page.all.set(one.metadata.uid, one);
    }
  };
  const polls = polling(look, 150);
  return {
    of: (app) => pageOf(app).all,
    now: (app) => pageOf(app).now,
    doubled: (app) => {
      const uids = Map.groupBy(pageOf(app).all.values(), idOf);
      return [...uids].filter(([, some]) => some.length > 1).map(([id]) => id);
    },
    stop: polls.stop,
  };
};
