/**
 * Drivers that create their executors themselves, as Spark's dynamic allocation does, each held back by Kueue's integration
 * of pods until there is quota. A stand-in for a kubelet lets each executor run as soon as it has no gate.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { openApi } from "../../real/cluster/node/api.ts";
import { executorStatus, lanes, merge } from "../recovery/standins.ts";

const namespace = "held";
const path = `/api/v1/namespaces/${namespace}/pods`;
const appLabel = "app";

type Pod = {
  readonly metadata: {
    readonly name: string;
    readonly resourceVersion: string;
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly spec: { readonly schedulingGates?: readonly unknown[] };
  readonly status?: { readonly phase?: string };
};

const isUp = ({ metadata, status }: Pod): boolean =>
  status?.phase === "Running" && metadata.deletionTimestamp === undefined;

const executor = (app: string, name: string, queue: string): object => ({
  ...{ apiVersion: "v1", kind: "Pod" },
  metadata: { name, namespace, labels: { [appLabel]: app, "kueue.x-k8s.io/queue-name": queue } },
  spec: {
    ...{ restartPolicy: "Never", schedulerName: "none", terminationGracePeriodSeconds: 0 },
    containers: [{ name: "executor", image: "none", resources: { requests: { cpu: "1", memory: "512Mi" } } }],
  },
});

type Drivers = {
  readonly kubeconfig: string;
  readonly address: string;
  readonly queue: string;
  readonly apps: readonly string[];
  readonly needs: (app: string) => number;
  readonly idleMs: number;
};

/** As Spark: a driver looks once a second, and creates at most ten executors then. */
const everyMs = 1_000;
const batch = 10;

export type HeldFleet = { readonly running: (app: string) => number; readonly stop: () => Promise<void> };

export const openHeldFleet = async ({
  kubeconfig,
  address,
  queue,
  apps,
  needs,
  idleMs,
}: Drivers): Promise<HeldFleet> => {
  const api = await openApi(kubeconfig);
  const pods = new Map<string, Pod>();
  const started = new Set<string>();
  const lane = lanes(16);
  const call = (...args: Parameters<typeof api.call>): Promise<void> =>
    lane(() => api.call(...args)).then(
      () => {},
      (error: unknown) => console.error(`held fleet: ${String(error)}`),
    );
  const put = (pod: Pod): void => {
    const { name } = pod.metadata;
    pods.set(name, pod);
    if (started.has(name) || (pod.spec.schedulingGates ?? []).length > 0) return;
    started.add(name);
    void call("PATCH", `${path}/${name}/status`, { status: executorStatus(address, false) }, merge);
  };
  api.follow<Pod>(path, {
    all: (all) => all.forEach(put),
    put,
    gone: ({ metadata }) => void pods.delete(metadata.name),
  });
  const of = (app: string): readonly Pod[] =>
    [...pods.values()].filter(
      ({ metadata }) => metadata.labels?.[appLabel] === app && metadata.deletionTimestamp === undefined,
    );
  const state = new Map(apps.map((app) => [app, { next: 1, fewerSince: undefined as number | undefined }]));
  const turn = async (app: string): Promise<void> => {
    const own = state.get(app);
    if (own === undefined) return;
    const [mine, need, now] = [of(app), needs(app), performance.now()];
    own.fewerSince = mine.length > need ? (own.fewerSince ?? now) : undefined;
    const names = Array.from(
      { length: Math.min(batch, Math.max(0, need - mine.length)) },
      () => `${app}-${own.next++}`,
    );
    await Promise.all(names.map((name) => call("POST", path, executor(app, name, queue))));
    // Executors that never ran are not needed any more at once; those that ran leave when they were idle for long enough.
    const isIdle = own.fewerSince !== undefined && now - own.fewerSince >= idleMs;
    const leaving = mine
      .toSorted((a, b) => Number(isUp(a)) - Number(isUp(b)))
      .slice(0, Math.max(0, mine.length - need))
      .filter((one) => isIdle || !isUp(one));
    await Promise.all(leaving.map(({ metadata }) => call("DELETE", `${path}/${metadata.name}`)));
  };
  let stopped = false;
  const loops = apps.map(async (app) => {
    for (; !stopped; await sleep(everyMs)) await turn(app);
  });
  return {
    running: (app) => of(app).filter(isUp).length,
    stop: async () => {
      stopped = true;
      await Promise.all(loops);
      api.close();
    },
  };
};
