/**
 * Jobs as Volcano's controllers leave them in their phases: real pods under upstream's names, and statuses written by
 * upstream's account.
 */
import type { Obj, Stored } from "../../../../shared/core/object.ts";
import { completed, leftOf } from "../../../support/left-job.ts";
import { type Api, patienceMs } from "../../cluster/api.ts";
import type { Cluster } from "../../cluster/cluster.ts";
import { until } from "./fixture.ts";
import { applyAll, stored } from "./upstream.ts";

export const jobsPath = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs";
const podsPath = "/api/v1/namespaces/default/pods";

/** Returns a job of workers that find each other; each runs the shell script. */
export const jobOf = (name: string, script: string, replicas: number, graceSeconds = 5): Obj =>
  completed({
    apiVersion: "batch.volcano.sh/v1alpha1",
    kind: "Job",
    metadata: { name, namespace: "default" },
    spec: {
      plugins: { env: [], svc: [], ssh: ["--ssh-private-key=mine", "--ssh-public-key=yours"] },
      tasks: [
        {
          name: "w",
          replicas,
          template: {
            spec: {
              restartPolicy: "Never",
              terminationGracePeriodSeconds: graceSeconds,
              containers: [{ name: "c", image: "busybox", command: ["sh", "-c", script] }],
            },
          },
        },
      ],
    },
  });

type Standing = { readonly version: number; readonly retryCount: number; readonly legacy?: boolean };

export type LeftRow = {
  readonly name: string;
  readonly phase: string;
  readonly script: string;
  readonly replicas: number;
  /** The phase of its pods; absent if they were not created. */
  readonly pods?: "Running" | "Succeeded";
  readonly group: boolean;
  readonly standing: Standing;
  readonly graceSeconds?: number;
};

const first: Standing = { version: 0, retryCount: 0 };

/** A script that takes 90 s to end after SIGTERM. */
const keptForUpdates = "trap 'sleep 90' TERM; while :; do sleep 0.2; done";

/** The jobs at the start of the migration. */
export const rows: readonly LeftRow[] = [
  {
    ...{ name: "left-running", phase: "Running", script: "sleep 100", replicas: 2, pods: "Running", group: true },
    standing: { version: 2, retryCount: 1 },
  },
  {
    ...{ name: "left-legacy", phase: "Running", script: "sleep 100", replicas: 1, pods: "Running", group: true },
    standing: { ...first, legacy: true },
  },
  {
    ...{ name: "left-restarting", phase: "Running", script: keptForUpdates, replicas: 2, pods: "Running", group: true },
    ...{ standing: first, graceSeconds: 120 },
  },
  { name: "left-pending", phase: "Pending", script: "sleep 5", replicas: 1, group: true, standing: first },
  {
    name: "left-aborted",
    phase: "Aborted",
    script: "true",
    replicas: 1,
    group: false,
    standing: { version: 1, retryCount: 0 },
  },
  {
    ...{ name: "left-completed", phase: "Completed", script: "true", replicas: 1, pods: "Succeeded", group: false },
    standing: { version: 1, retryCount: 0 },
  },
];

/** Writes the whole status under upstream's account. */
export const tell = async (api: Api, name: string, status: object): Promise<void> => {
  const path = `${jobsPath}/${name}`;
  const { status: code, body } = await api.call("PUT", `${path}/status`, { ...(await stored(api, path)), status });
  if (code !== 200) throw new Error(`${path}/status: ${JSON.stringify(body)}`);
};

export const statusOf = (phase: string, counts: object): object => {
  const lastTransitionTime = new Date().toISOString().replace(/\.\d+Z$/, "Z");
  return {
    state: { phase, lastTransitionTime },
    conditions: [{ status: phase, lastTransitionTime }],
    minAvailable: 1,
    ...counts,
  };
};

const phaseOf = (pod: Stored): unknown => Object(pod["status"])["phase"];

/** Creates one job with its objects. */
const leaveOne = async (cluster: Cluster, api: Api, row: LeftRow): Promise<void> => {
  const { name, phase, script, replicas, pods, standing, graceSeconds } = row;
  await applyAll(cluster, [jobOf(name, script, replicas, graceSeconds)]);
  const left = leftOf(await stored(cluster.api, `${jobsPath}/${name}`), standing);
  await applyAll(cluster, row.group ? [left.group, ...left.shared] : left.shared);
  if (pods !== undefined) {
    await applyAll(cluster, left.pods);
    const all = left.pods.map(({ metadata }) => `${podsPath}/${metadata.name}`);
    const are = async (): Promise<boolean> => {
      const there = await Promise.all(all.map((path) => stored(cluster.api, path)));
      return there.every((pod) => phaseOf(pod) === pods);
    };
    await until(`pods of ${name} are ${pods}`, are, patienceMs);
  }
  // Upstream deletes the objects that a job's pods share once none of its pods is alive.
  if (!row.group) for (const { kind, metadata } of left.shared) await cluster.kubectl(["delete", kind, metadata.name]);
  const counts = pods === undefined ? {} : { [pods.toLowerCase()]: replicas };
  await tell(api, name, statusOf(phase, { ...standing, legacy: undefined, ...counts }));
};

export const leaveAll = async (cluster: Cluster, api: Api): Promise<void> => {
  for (const row of rows) await leaveOne(cluster, api, row);
};

/** Begins a restart as upstream does, and stops before the pods are gone. */
export const beginRestart = async (cluster: Cluster, api: Api, name: string): Promise<void> => {
  const uid = (await stored(cluster.api, `${jobsPath}/${name}`)).metadata.uid;
  for (const index of [0, 1]) {
    const path = `${podsPath}/${name}-w-${index}`;
    const mark = [{ op: "add", path: "/metadata/annotations/volcano.sh~1controller-out-of-sync", value: "true" }];
    await api.call("PATCH", path, mark, "application/json-patch+json");
    await api.call("DELETE", path);
  }
  for (const what of [`podgroup/${name}-${uid}`, `secret/${name}-ssh`, `configmap/${name}-svc`, `service/${name}`])
    await cluster.kubectl(["delete", what]);
  await cluster.kubectl(["delete", "networkpolicy", name]);
  await tell(api, name, statusOf("Restarting", { version: 1, retryCount: 1, terminating: 2 }));
};
