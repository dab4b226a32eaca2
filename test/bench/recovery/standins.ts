/**
 * Stand-ins for drivers, executors and a kubelet, without Spark: every pod of an application is Running as soon as it
 * is seen, and one server answers for the REST API of all drivers with the executors that run.
 */
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Api as AgentApi, Reply } from "../../real/cluster/node/api.ts";
import { openApi } from "../../real/cluster/node/api.ts";

type Pod = {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly creationTimestamp: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly status?: { readonly phase?: string };
};

export type Executor = { readonly app: string; readonly name: string; readonly id: string; readonly uid: string };

const podsPath = "/api/v1/namespaces/default/pods";
export const merge = "application/merge-patch+json";

const labelOf = ({ metadata }: Pod, name: string): string => metadata.labels?.[name] ?? "";

const state = (terminated: boolean): object =>
  terminated
    ? { terminated: { exitCode: 137, reason: "Error", finishedAt: new Date().toISOString().replace(/\.\d+Z$/, "Z") } }
    : { running: { startedAt: new Date().toISOString().replace(/\.\d+Z$/, "Z") } };

const statusOf = (role: string, podIP: string, terminated: boolean): object => ({
  phase: terminated ? "Failed" : "Running",
  ...{ podIP, podIPs: [{ ip: podIP }], hostIP: podIP },
  conditions: [{ type: "Ready", status: terminated ? "False" : "True" }],
  containerStatuses: [
    {
      name: role === "driver" ? "spark-kubernetes-driver" : "spark-kubernetes-executor",
      ...{ image: "spark", imageID: "", restartCount: 0, ready: !terminated, state: state(terminated) },
    },
  ],
});

/** Returns the status that a kubelet writes when an executor runs, or has ended with 137. */
export const executorStatus = (podIP: string, terminated: boolean): object => statusOf("executor", podIP, terminated);

/** The number of statuses that the stand-in for a kubelet writes at a time. */
export const atOnce = 24;

export type StandIns = {
  /** Returns the running executors of an application, in the order of their start. */
  running(app: string): readonly Executor[];
  /** Resolves with the next `count` executors of an application that start; rejects after a minute. */
  next(app: string, count: number): Promise<readonly Executor[]>;
  /** Writes that its container ended with 137; resolves with the instant of the API server's answer (epoch ms). */
  fail(executor: Executor): Promise<number>;
  stop(): Promise<void>;
};

type Waiting = { left: number; readonly came: Executor[]; readonly done: (came: readonly Executor[]) => void };

/** Limits parallel work to `most`; a slot passes from one to the next. */
export const lanes = (most: number) => {
  let taken = 0;
  const waiting: (() => void)[] = [];
  return async <T>(act: () => Promise<T>): Promise<T> => {
    if (taken >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else taken += 1;
    try {
      return await act();
    } finally {
      const next = waiting.shift();
      if (next === undefined) taken -= 1;
      else next();
    }
  };
};

/** Returns epoch ms with a fraction. */
export const instant = (): number => performance.timeOrigin + performance.now();

const entry = (id: string, activeTasks: number): object => ({
  ...{ id, hostPort: "10.244.0.1:7079", isActive: true, rddBlocks: 0, memoryUsed: 0, diskUsed: 0, totalCores: 1 },
  ...{ maxTasks: 1, activeTasks, failedTasks: 0, completedTasks: 7, totalTasks: 8, isExcluded: false },
});

/** The executors that the driver of an application needs; the first ones are busy, and others idle. */
type Needs = (app: string) => number;

/** The gauges of the driver that the API server names as the one that was asked. */
const gaugesFor = (forwarded: string, needs: Needs): unknown => {
  const [, app = ""] = /\/pods\/(.*)-driver:4040\//.exec(forwarded) ?? [];
  const name = `${app}.driver.ExecutorAllocationManager.executors.numberMaxNeededExecutors`;
  return { gauges: { [name]: { value: needs(app) } } };
};

/** The executors of an application, and how many of them are busy. */
type Known = { readonly ids: readonly string[]; readonly busy: number };

/** Returns the answer of a driver to `/api/v1/…`; undefined for an unknown path. */
const answerFor = (path: string, idsOf: (applicationId: string) => Known | undefined): unknown => {
  const [, application, what = ""] = /^\/api\/v1\/applications(?:\/([^/]+)(?:\/(\w+))?)?$/.exec(path) ?? [];
  const known = application === undefined ? undefined : idsOf(application);
  if (application === undefined || known === undefined) return undefined;
  if (what === "") return { id: application, name: application, attempts: [{ completed: false }] };
  if (what === "executors" || what === "allexecutors")
    return [entry("driver", 0), ...known.ids.map((id, at) => entry(id, at < known.busy ? 1 : 0))];
  return what === "jobs" || what === "stages" ? [] : undefined;
};

type Ways = { readonly slow: string; readonly startMs: number; readonly needs?: Needs };

/**
 * Follows the pods of the namespace `default`; drivers answer at `address`:4040. Executors of the application `slow`
 * take `startMs` to start, all others start at once.
 */
export const openStandIns = async (
  kubeconfig: string,
  address: string,
  { slow, startMs, needs = () => Number.POSITIVE_INFINITY }: Ways,
): Promise<StandIns> => {
  const api: AgentApi = await openApi(kubeconfig);
  const apps = new Map<string, Map<string, Executor>>();
  const applications = new Map<string, string>();
  const waiting = new Map<string, Waiting>();
  const seen = new Set<string>();
  const of = (app: string): Map<string, Executor> => {
    const found = apps.get(app) ?? new Map<string, Executor>();
    apps.set(app, found);
    return found;
  };
  const lane = lanes(atOnce);
  const once = async (name: string, act: () => Promise<Reply>): Promise<void> => {
    const reply = await act();
    if (reply.status !== 200 && reply.status !== 404) throw new Error(`${name}: ${JSON.stringify(reply.body)}`);
  };
  /** A server that is busy with a thousand requests may close the connection, so failures are retried. */
  const patient = (act: () => Promise<Reply>, name: string, tries = 5): Promise<void> =>
    lane(() => once(name, act)).catch(async (error: unknown) => {
      if (tries <= 1) throw error;
      await sleep(200);
      return patient(act, name, tries - 1);
    });
  const patch = (name: string, status: object): Promise<void> =>
    patient(() => api.call("PATCH", `${podsPath}/${name}/status`, { status }, merge), name);
  const came = (executor: Executor): void => {
    of(executor.app).set(executor.name, executor);
    const one = waiting.get(executor.app);
    if (one === undefined) return;
    one.came.push(executor);
    one.left -= 1;
    if (one.left > 0) return;
    waiting.delete(executor.app);
    one.done(one.came);
  };
  const start = async (pod: Pod, role: string): Promise<void> => {
    const app = labelOf(pod, "sparkoperator.k8s.io/app-name");
    if (role === "driver") applications.set(labelOf(pod, "spark-app-selector"), app);
    else if (app === slow) await sleep(startMs);
    await patch(pod.metadata.name, statusOf(role, address, false));
    const { name, uid } = pod.metadata;
    if (role === "executor") came({ app, name, uid, id: labelOf(pod, "spark-exec-id") });
  };
  api.follow<Pod>(podsPath, {
    all: (pods) => pods.forEach(put),
    put: (pod) => put(pod),
    gone: (pod) => void of(labelOf(pod, "sparkoperator.k8s.io/app-name")).delete(pod.metadata.name),
  });
  function put(pod: Pod): void {
    const role = labelOf(pod, "spark-role");
    if (role === "" || seen.has(pod.metadata.uid)) return;
    seen.add(pod.metadata.uid);
    start(pod, role).catch((error: unknown) => console.error(`stand-in: ${String(error)}`));
  }
  const idsOf = (applicationId: string): Known | undefined => {
    const app = applications.get(applicationId);
    return app === undefined ? undefined : { ids: [...of(app).values()].map(({ id }) => id), busy: needs(app) };
  };
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://driver");
    const forwarded = String(request.headers["x-forwarded-uri"] ?? "");
    const answer = pathname.startsWith("/metrics/") ? gaugesFor(forwarded, needs) : answerFor(pathname, idsOf);
    response.writeHead(answer === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(answer ?? { error: "not here" }));
  });
  await new Promise<void>((resolve) => server.listen(4040, address, resolve));
  return {
    running: (app) => [...of(app).values()],
    next: (app, count) =>
      new Promise((resolve, reject) => {
        const late = setTimeout(() => {
          waiting.delete(app);
          reject(new Error(`${app}: ${count} executors did not come within a minute`));
        }, 60_000);
        waiting.set(app, {
          left: count,
          came: [],
          done: (all) => {
            clearTimeout(late);
            resolve(all);
          },
        });
      }),
    fail: async ({ app, name }) => {
      of(app).delete(name);
      await patch(name, executorStatus(address, true));
      return instant();
    },
    stop: async () => {
      api.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
