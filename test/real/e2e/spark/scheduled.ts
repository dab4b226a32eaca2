/** Upstream's scheduled application, beside other cases: two children, one per tick, both completed. */
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { type Case, kubectl, must, running, type Scene } from "../scene.ts";

const child = z.object({
  metadata: z.object({
    name: z.string(),
    creationTimestamp: z.string(),
    ownerReferences: z.array(z.object({ kind: z.string(), name: z.string() })),
  }),
  status: z.looseObject({ applicationState: z.object({ state: z.string() }).optional() }).optional(),
});

const children = z.object({ items: z.array(child) });

const status = z.object({
  status: z.looseObject({
    scheduleState: z.string(),
    lastRunName: z.string().optional(),
    nextRun: z.string().optional(),
    pastSuccessfulRunNames: z.array(z.string()).optional(),
  }),
});

const name = "spark-pi-scheduled";
const base = "/apis/sparkoperator.k8s.io/v1beta2/namespaces/default";
const ofSchedule = `${base}/sparkapplications?labelSelector=${encodeURIComponent(`sparkoperator.k8s.io/scheduled-app-name=${name}`)}`;

/** Checks for three minutes, as in the file, within a few seconds. */
const isInterval = (from: string, to: string): boolean => {
  const seconds = (Date.parse(to) - Date.parse(from)) / 1_000;
  return seconds >= 175 && seconds <= 195;
};

/** Applies the file, and waits for two runs to complete: some seven minutes. */
const scheduledTwice = async ({ cluster }: Scene, file: string): Promise<string> => {
  await kubectl(cluster, ["apply", "-f", file]);
  const seen = new Map<string, z.infer<typeof child>>();
  const until = performance.now() + 660_000;
  const done = (): number =>
    [...seen.values()].filter((one) => one.status?.applicationState?.state === "COMPLETED").length;
  while (done() < 2 && performance.now() < until) {
    const { items } = children.parse((await cluster.api.call("GET", ofSchedule)).body);
    for (const one of items) seen.set(one.metadata.name, one);
    await sleep(500);
  }
  const runs = [...seen.values()].sort((a, b) =>
    a.metadata.creationTimestamp.localeCompare(b.metadata.creationTimestamp),
  );
  must(done() === 2, `${done()} runs of ${name} have completed: ${JSON.stringify(runs)}`);
  const [first, second] = runs;
  must(runs.length === 2, `${runs.length} runs were made, expected 2`);
  const [from, to] = [first?.metadata.creationTimestamp ?? "", second?.metadata.creationTimestamp ?? ""];
  must(isInterval(from, to), `the runs began at ${from} and ${to}, expected three minutes between them`);
  const owners = runs.flatMap(({ metadata }) => metadata.ownerReferences.map((owner) => `${owner.kind}/${owner.name}`));
  must(
    owners.every((owner) => owner === `ScheduledSparkApplication/${name}`),
    `the runs are owned by ${owners.join(", ")}`,
  );
  const said = status.parse((await cluster.api.call("GET", `${base}/scheduledsparkapplications/${name}`)).body).status;
  must(said.scheduleState === "Scheduled", `scheduleState is ${said.scheduleState}`);
  must(said.lastRunName === second?.metadata.name, `lastRunName is ${said.lastRunName}, not ${second?.metadata.name}`);
  await kubectl(cluster, ["delete", "scheduledsparkapplication", name]);
  return `${name}: two runs three minutes apart, both COMPLETED`;
};

/** `file` is upstream's. It is applied before the first case of the lane; the hosts of all cases run its schedule. */
export const upstreamSchedule = (file: string): Case => {
  let runs: Promise<string> | undefined;
  return {
    name: `upstream's ${name}, unmodified, runs twice while hosts end and begin`,
    begin: (scene) => {
      runs = scheduledTwice(scene, file);
      runs.catch(() => {});
    },
    run: (scene) => running(scene, async () => [await (runs ?? Promise.reject(new Error("begin was not called")))]),
  };
};
