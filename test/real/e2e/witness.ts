/** Watches the API independently of Rekindle: every driver pod that existed and every state that was shown. */
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import type { Api } from "../cluster/api.ts";
import { polling } from "./repeated-look.ts";

const pod = z.object({
  metadata: z.object({
    name: z.string(),
    uid: z.string(),
    labels: z.record(z.string(), z.string()).default({}),
  }),
  status: z.object({ phase: z.string().default("") }).default({ phase: "" }),
});

const pods = z.object({ items: z.array(pod) });

export const application = z.object({
  metadata: z.object({ uid: z.string(), resourceVersion: z.string() }),
  status: z
    .object({
      applicationState: z.object({ state: z.string(), errorMessage: z.string().optional() }).optional(),
      executionAttempts: z.number().optional(),
      submissionAttempts: z.number().optional(),
      terminationTime: z.string().nullish(),
      driverInfo: z.object({ podName: z.string().optional() }).optional(),
      executorState: z.record(z.string(), z.string()).optional(),
    })
    .optional(),
});

export type Application = z.infer<typeof application>;

const applicationPath = (name: string): string =>
  `/apis/sparkoperator.k8s.io/v1beta2/namespaces/default/sparkapplications/${name}`;

export const read = async (api: Api, name: string): Promise<Application> => {
  const reply = await api.call("GET", applicationPath(name));
  if (reply.status !== 200) throw new Error(`SparkApplication ${name}: ${JSON.stringify(reply.body)}`);
  return application.parse(reply.body);
};

export const stateOf = (app: Application): string => app.status?.applicationState?.state ?? "";

/** Resolves with the application once it is in one of the states; throws its status at the timeout. */
export const awaitState = async (
  api: Api,
  name: string,
  states: readonly string[],
  timeoutMs: number,
): Promise<Application> => {
  const until = performance.now() + timeoutMs;
  for (;;) {
    const app = await read(api, name);
    if (states.includes(stateOf(app))) return app;
    if (performance.now() > until)
      throw new Error(
        `${name} is ${stateOf(app) || "New"} after ${timeoutMs / 1_000} s: ${JSON.stringify(app.status)}`,
      );
    await sleep(200);
  }
};

export type Witness = {
  /** UIDs of all driver pods seen so far, by submission id. */
  drivers(): ReadonlyMap<string, ReadonlySet<string>>;
  /** The highest number of unfinished driver pods in one reading. */
  mostAlive(): number;
  states(): readonly string[];
  stop(): Promise<void>;
};

/** Polls every 100 ms; a pod exists for longer than that. */
export const observe = (api: Api, name: string): Witness => {
  const drivers = new Map<string, Set<string>>();
  const states: string[] = [];
  let most = 0;
  const selector = encodeURIComponent(`sparkoperator.k8s.io/app-name=${name},spark-role=driver`);
  const look = async (): Promise<void> => {
    const reply = await api.call("GET", `/api/v1/namespaces/default/pods?labelSelector=${selector}`);
    const found = pods.parse(reply.body).items;
    for (const { metadata } of found) {
      const id = metadata.labels["sparkoperator.k8s.io/submission-id"] ?? "";
      drivers.set(id, (drivers.get(id) ?? new Set()).add(metadata.uid));
    }
    most = Math.max(most, found.filter((one) => !["Succeeded", "Failed"].includes(one.status.phase)).length);
    const app = await api.call("GET", applicationPath(name));
    const state = app.status === 200 ? stateOf(application.parse(app.body)) : "";
    if (state !== "" && states.at(-1) !== state) states.push(state);
  };
  const polls = polling(look, 100);
  return {
    drivers: () => drivers,
    mostAlive: () => most,
    states: () => states,
    stop: polls.stop,
  };
};

/** Returns the driver's log, read through the API server. */
export const driverLog = async (api: Api, podName: string): Promise<string> => {
  const reply = await api.call(
    "GET",
    `/api/v1/namespaces/default/pods/${podName}/log?container=spark-kubernetes-driver`,
  );
  return String(reply.body);
};
