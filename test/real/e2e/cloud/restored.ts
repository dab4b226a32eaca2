/**
 * The cluster is lost, and another one takes its place: applications that had ended stay so, the others begin their
 * next attempt.
 */
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { driverFaults } from "../lambda/judgements.ts";
import { checkedAnswer } from "../recovery/job.ts";
import { must } from "../scene.ts";
import { driverLog } from "../witness.ts";
import { awaitApplication, awaitJob, type Case, podsOfJob } from "./cases.ts";
import { alias, type Fixture } from "./fixture.ts";
import { typed } from "./operator.ts";
import { applicationsPath, created, early, jobsPath, late, openGate } from "./works.ts";

const kept = z.object({
  items: z.array(
    z.looseObject({
      metadata: z.looseObject({ name: z.string() }),
      spec: z.unknown(),
    }),
  ),
});

type Kept = ReadonlyMap<string, readonly object[]>;

/** The parts of objects that a backup keeps: neither UID nor status, which a restore does not bring back. */
const backup = async ({ home }: Fixture): Promise<Kept> => {
  const saved = new Map<string, readonly object[]>();
  for (const path of [applicationsPath, jobsPath]) {
    const { items } = kept.parse((await home().cluster.api.call("GET", path)).body);
    const [apiVersion, kind] =
      path === jobsPath ? ["batch.volcano.sh/v1alpha1", "Job"] : ["sparkoperator.k8s.io/v1beta2", "SparkApplication"];
    const bare = items.map(({ metadata: { name, labels, annotations }, spec }) => ({
      ...{ apiVersion, kind, spec },
      metadata: { name, namespace: "default", labels, annotations },
    }));
    saved.set(path, bare);
  }
  return saved;
};

const restore = async ({ home }: Fixture, saved: Kept): Promise<void> => {
  for (const [path, objects] of saved) for (const object of objects) await created(home().cluster.api, path, object);
};

/** The time for which functions find no cluster behind its record. */
const awayMs = 5_000;

export const survives: Case = {
  name: "the cluster is lost; in another one what was completed stays so, and what was not becomes the next attempt",
  run: async (fixture) => {
    const saved = await backup(fixture);
    const before = fixture.home().witness.of(late.application);
    await fixture.lose();
    await sleep(awayMs);
    await fixture.update({ Working: "DISABLED" });
    const { cluster, witness } = await fixture.settle();
    await restore(fixture, saved);
    await fixture.update({ Working: "ENABLED" });
    await Promise.all([
      awaitApplication(fixture, early.application, "COMPLETED"),
      awaitJob(fixture, early.job, "Completed"),
      awaitApplication(fixture, late.application, "RUNNING"),
      awaitJob(fixture, late.job, "Running"),
    ]);
    await Promise.all([openGate(fixture.gates, late.application), openGate(fixture.gates, late.job)]);
    const [app, job] = await Promise.all([
      awaitApplication(fixture, late.application, "COMPLETED"),
      awaitJob(fixture, late.job, "Completed"),
    ]);
    const answer = checkedAnswer(await driverLog(cluster.api, app.status?.driverInfo?.podName ?? ""));
    const faults = driverFaults(witness.of(late.application), 1);
    must(faults.length === 0, faults.join("; "));
    const again = [...witness.of(late.application).drivers.keys()].filter((id) => before.drivers.has(id));
    must(again.length === 0, `submission ${again.join(", ")} was used in both clusters`);
    const early2 = [...witness.of(early.application).drivers.keys(), ...(await podsOfJob(fixture, early.job))];
    must(early2.length === 0, `what was completed was begun again: ${early2.join(", ")}`);
    must(job.version === 1 && job.retryCount === 0, `${late.job}: ${JSON.stringify(job)}`);
    const env = { REKINDLE_CHECKPOINTS: `dynamodb://rekindle-${alias}`, REKINDLE_CLUSTER: alias };
    const kubeconfig = ["--kubeconfig", cluster.adminKubeconfig];
    const said = await typed({ guard: fixture.guard, env }, ["status", `default/${late.application}`, ...kubeconfig]);
    must(/attempts +1 voided\n/.test(said), `status does not say that the first attempt came to nothing: ${said}`);
    return [answer, `${late.job}: ${JSON.stringify(job)}`, ...said.trim().split("\n")];
  },
};
