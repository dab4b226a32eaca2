/** An executor is killed, and the next one takes its claim: its driver finds the shuffle data there. */
import { chmod, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { type Case, must, type Scene } from "../scene.ts";
import { driverLog } from "../witness.ts";
import {
  begun,
  ended,
  livingIn,
  lostAndBack,
  pods,
  type Run,
  skippedStages,
  underKills,
  untilRunning,
} from "./fixture.ts";
import { claiming, type Job, openGate, storageClass } from "./job.ts";

const executors = 3;

/** Spark 4 claims for one pod, and Spark 3 for one node; a volume may not offer both. */
const accessModes = ["ReadWriteOncePod", "ReadWriteOnce"] as const;

/** As many volumes as executors, and one more for each that may follow. */
const volumes = accessModes.flatMap((mode) =>
  Array.from({ length: 2 * executors }, (_, at) => ({ mode, name: `pool-${mode.toLowerCase()}-${at + 1}` })),
);

const created = async ({ cluster }: Scene, path: string, body: object): Promise<void> => {
  const { status, body: answer } = await cluster.api.call("POST", path, body);
  must(status === 201 || status === 409, `${path}: ${JSON.stringify(answer)}`);
};

/** Volumes of the class as folders of this machine, that claims of executors are bound to. */
const withVolumes = async (scene: Scene): Promise<void> => {
  await created(scene, "/apis/storage.k8s.io/v1/storageclasses", {
    ...{ metadata: { name: storageClass }, provisioner: "kubernetes.io/no-provisioner" },
    volumeBindingMode: "Immediate",
  });
  for (const { name, mode } of volumes) {
    const path = join(dirname(scene.hostLog), "volumes", name);
    await mkdir(path, { recursive: true });
    await chmod(path, 0o777);
    await created(scene, "/api/v1/persistentvolumes", {
      metadata: { name },
      spec: {
        ...{ storageClassName: storageClass, capacity: { storage: "1Gi" }, accessModes: [mode] },
        ...{ persistentVolumeReclaimPolicy: "Retain", hostPath: { path } },
      },
    });
  }
};

const withClaims = z.object({
  spec: z.object({
    volumes: z.array(z.looseObject({ persistentVolumeClaim: z.object({ claimName: z.string() }).optional() })),
  }),
});

/** Names of the claims of living executors, by the executor's name. */
const claimsOf = async (run: Run, name: string): Promise<ReadonlyMap<string, string>> => {
  const claims = new Map<string, string>();
  for (const { metadata } of livingIn(run, name)) {
    const { spec } = withClaims.parse((await run.scene.cluster.api.call("GET", `${pods}/${metadata.name}`)).body);
    const [claim, ...others] = spec.volumes.flatMap(({ persistentVolumeClaim: one }) => one?.claimName ?? []);
    must(claim !== undefined && others.length === 0, `${metadata.name} has not one claim`);
    claims.set(metadata.name, claim ?? "");
  }
  return claims;
};

const shuffledMs = 180_000;

const untilShuffled = async ({ scene }: Run, name: string): Promise<void> => {
  const until = performance.now() + shuffledMs;
  while (!/^shuffled$/m.test(await driverLog(scene.cluster.api, `${name}-driver`))) {
    must(performance.now() < until, `${name} has not shuffled after ${shuffledMs / 1_000} s`);
    await sleep(500);
  }
};

const handedOn = async (run: Run, job: Job): Promise<readonly string[]> => {
  const { name } = job;
  await withVolumes(run.scene);
  await begun(run, (dir) => claiming(job, executors, dir));
  await untilRunning(run, name, executors);
  await untilShuffled(run, name);
  const before = await claimsOf(run, name);
  const backS = await lostAndBack(run, name, executors);
  const after = await claimsOf(run, name);
  const [[successor, claim] = ["", ""], ...more] = [...after].filter(([one]) => !before.has(one));
  must(more.length === 0 && [...before.values()].includes(claim), `${successor} has the claim ${claim}, which is new`);
  await openGate(run.gates, "lost");
  const log = await ended(run, name);
  const answer = /executors \d+ same True/.exec(log)?.[0];
  must(answer !== undefined, `the driver's log has no answer; it ends ${log.slice(-500)}`);
  const recovered = new Set(log.match(/Recover(?:ed)? \d+/g)).size;
  must(recovered > 0, `${name}: the driver has recovered no output of a map`);
  const { skipped, computed } = await skippedStages(run, name);
  return [
    `${name}: "${answer}"; ${successor} had ${claim} ${backS.toFixed(1)} s after the loss`,
    `${recovered} outputs of maps recovered; event log: ${computed} stages computed, none of them again, ${skipped} skipped`,
  ];
};

export const handsClaimsOn = (sparkVersion: string): Case => ({
  name: `Spark ${sparkVersion}: the successor of a killed executor takes its claim, and outputs of maps on it are recovered`,
  run: (scene) =>
    underKills(scene, (run) => handedOn(run, { name: `claims-${sparkVersion.replaceAll(".", "-")}`, sparkVersion })),
});
