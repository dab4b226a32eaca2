/** A Volcano Job of many pods under the bell: created, running, completed, deleted, by statuses as kubelets would write them. */
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import type { Api } from "../../real/cluster/api.ts";
import { each } from "../../support/parallel.ts";
import { podsPath } from "../kubelet.ts";

const jobs = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs";
const merge = "application/merge-patch+json";
const name = "crowd";
export const crowd = 200;

const job = {
  apiVersion: "batch.volcano.sh/v1alpha1",
  kind: "Job",
  metadata: { name, namespace: "default" },
  spec: {
    schedulerName: "volcano",
    minAvailable: crowd,
    tasks: [
      {
        name: "w",
        replicas: crowd,
        template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "none" }] } },
      },
    ],
  },
};

const named = z.object({ items: z.array(z.object({ metadata: z.object({ name: z.string() }) })) });

const podsOf = async (api: Api): Promise<readonly string[]> => {
  const selector = encodeURIComponent(`volcano.sh/job-name=${name}`);
  const { body } = await api.call("GET", `${podsPath}?labelSelector=${selector}`);
  return named.parse(body).items.map(({ metadata }) => metadata.name);
};

const podCountIs = async (api: Api, count: number): Promise<readonly string[]> => {
  for (const until = performance.now() + 120_000; performance.now() < until; await sleep(250)) {
    const found = await podsOf(api);
    if (found.length === count) return found;
  }
  throw new Error(`the job has not ${count} pods after two minutes`);
};

const states = {
  Running: { running: { startedAt: "2026-01-01T00:00:00Z" } },
  Succeeded: { terminated: { exitCode: 0, reason: "Completed" } },
} as const;

const reported = (api: Api, pods: readonly string[], phase: keyof typeof states): Promise<void> =>
  each(pods, async (pod) => {
    const ready = phase === "Running";
    const one = { name: "c", image: "none", imageID: "", restartCount: 0, ready, state: states[phase] };
    const { status } = await api.call(
      "PATCH",
      `${podsPath}/${pod}/status`,
      { status: { phase, containerStatuses: [one] } },
      merge,
    );
    if (status !== 200) throw new Error(`patch ${pod}: ${status}`);
  });

const phaseIs = (api: Api, phase: string): Promise<unknown> =>
  api.until(`${jobs}/${name}`, ({ body }) => JSON.stringify(body).includes(`"phase":"${phase}"`), 120_000);

/** Runs the job from its creation until nothing of it is left. */
export const liveCrowd = async (api: Api): Promise<void> => {
  const { status, body } = await api.call("POST", jobs, job);
  if (status !== 201) throw new Error(`create the job: ${JSON.stringify(body)}`);
  const pods = await podCountIs(api, crowd);
  await reported(api, pods, "Running");
  await phaseIs(api, "Running");
  await reported(api, pods, "Succeeded");
  await phaseIs(api, "Completed");
  await api.call("DELETE", `${jobs}/${name}`);
  await podCountIs(api, 0);
};
