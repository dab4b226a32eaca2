/** The cases of a Volcano job, the storm, and the quiet after it, where functions run on demand. */
import { once } from "node:events";
import { type IncomingMessage, request as requestOf } from "node:http";
import { request as secureRequestOf } from "node:https";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { proofWith } from "../../../support/proof.ts";
import { patienceMs } from "../../cluster/api.ts";
import { isWrite, tableOf } from "../../cluster/audit.ts";
import { triggerSecret } from "../../lambda/cloud.ts";
import { jobStatus, jobsPath } from "../cloud/works.ts";
import { completing, deleted, failing } from "../lambda/applications.ts";
import { type Case, type Observed, tallied } from "../lambda/cases.ts";
import { refusedIn } from "../rights.ts";
import { must } from "../scene.ts";
import { type Fixture, resyncMs } from "./fixture.ts";
import type { Daemon } from "./storm.ts";

const job = {
  apiVersion: "batch.volcano.sh/v1alpha1",
  kind: "Job",
  metadata: { name: "job", namespace: "default" },
  spec: {
    ...{ schedulerName: "volcano", minAvailable: 2, maxRetry: 3 },
    policies: [{ event: "PodFailed", action: "RestartJob" }],
    tasks: [
      {
        ...{ name: "w", replicas: 2 },
        template: {
          spec: {
            ...{ restartPolicy: "Never", terminationGracePeriodSeconds: 1 },
            containers: [{ name: "c", image: "busybox:1.36", command: ["sh", "-c", "sleep 20"] }],
          },
        },
      },
    ],
  },
};

export const jobCompletes: Case<Observed> = {
  name: "a Volcano job of two pods that run together is Completed, in its first version",
  run: async ({ cluster: { api } }) => {
    const { status, body } = await api.call("POST", jobsPath, job);
    must(status === 201, `create the job: ${JSON.stringify(body)}`);
    const phases: string[] = [];
    for (const until = performance.now() + patienceMs; phases.at(-1) !== "Completed"; await sleep(200)) {
      must(performance.now() < until, `the job went ${phases.join(" → ")}`);
      const { phase } = (await jobStatus(api, "job")).state;
      if (phase !== "" && phase !== phases.at(-1)) phases.push(phase);
    }
    const { version, retryCount } = await jobStatus(api, "job");
    must(retryCount === 0, `it was tried again: version ${version}, retries ${retryCount}`);
    return [phases.join(" → ")];
  },
};

const asked = [
  ...[...completing, failing, deleted].map(({ name }) => `/reconcile/SparkApplication/default/${name}`),
  "/reconcile/Job/default/job",
];

/** Sends a signed trigger. Returns its status; 0: nobody answers. */
export const trigger = async (
  { door, authority: ca }: Pick<Fixture, "door" | "authority">,
  nth: number,
): Promise<number> => {
  const path = asked[nth % asked.length] ?? "";
  const options = { method: "POST", headers: proofWith(triggerSecret, { path }), signal: AbortSignal.timeout(5_000) };
  const url = `${door}${path}`;
  try {
    const sent = ca === undefined ? requestOf(url, options) : secureRequestOf(url, { ...options, ca });
    sent.end();
    const [answer] = (await once(sent, "response")) as [IncomingMessage];
    await buffer(answer);
    return answer.statusCode ?? 0;
  } catch {
    return 0;
  }
};

export const killsOf = ({ functions, daemons }: Pick<Fixture, "functions" | "daemons">): number =>
  functions.reconcile.kills.length +
  functions.deliver.kills.length +
  daemons.reduce((sum, { kills }) => sum + kills(), 0);

const struckIn = ({ daemons, broker }: Fixture): readonly Daemon[] => [
  ...daemons,
  ...(broker === undefined ? [] : [broker]),
];

/** Returns the processes that were not killed often enough. */
export const sparedIn = (fixture: Fixture): readonly Daemon[] =>
  struckIn(fixture).filter(({ kills, least }) => kills() < least);

export const stormy = (least: number): Case<Fixture> => ({
  name: `the storm: ≥ ${least} kills of functions and of what sends to them`,
  run: async (fixture) => {
    must(killsOf(fixture) >= least, `${killsOf(fixture)} kills, ${least} are needed`);
    const spared = sparedIn(fixture).map(({ name, kills }) => `${name} was killed ${kills()} times only`);
    must(spared.length === 0, spared.join("; "));
    const lines = Object.entries(fixture.functions).map(async ([name, { kills, counts, taken }]) => {
      const { started, stopped } = counts();
      return `${name}: ${await taken()}; killed ${tallied(kills)}; ${started} processes, ${stopped} stopped without work`;
    });
    return [
      ...struckIn(fixture).map(({ name, kills }) => `${name} was killed ${kills()} times`),
      ...(await Promise.all(lines)),
    ];
  },
});

/** Renewals of the dispatcher's lease: a request every two seconds, as of any leader. */
const isLease = ({ resource }: { readonly resource: string }): boolean => resource === "leases";

const restMs = resyncMs + 5_000;

/** A forwarder stores its cursors for the first time when it has lived for a minute, which a storm may not leave it. */
const cursorsStoredMs = 65_000;

const running = ({ functions }: Fixture): number =>
  Object.values(functions).reduce((sum, { counts }) => sum + counts().running, 0);

export const refusesNothing: Case<Fixture> = {
  name: "under the overlay's accounts no request is refused",
  run: async ({ audit }) => {
    const all = await audit.read();
    const refused = refusedIn(all);
    must(refused.length === 0, refused.join("; "));
    return [`${all.length} requests of ${new Set(all.map(({ account }) => account)).size} accounts`];
  },
};

export const quiet: Case<Fixture> = {
  name: "then quiet: a minute with resyncs and triggers, 0 writes, and then no process of a function",
  run: async (fixture) => {
    const { audit } = fixture;
    const calmSince = performance.now();
    // The storm may end with a kill: a dispatcher begins when the lease of the killed one expires.
    for (const until = performance.now() + 60_000; (await trigger(fixture, 0)) !== 202; await sleep(500))
      must(performance.now() < until, "no trigger is taken");
    for (const until = performance.now() + 240_000; ; await sleep(1_000)) {
      const newest = (await audit.read()).filter((one) => isWrite(one) && !isLease(one)).at(-1)?.at ?? 0;
      const isStored = performance.now() - calmSince > cursorsStoredMs;
      if (isStored && Date.now() - newest > restMs && running(fixture) === 0) break;
      must(performance.now() < until, "it does not come to rest");
    }
    const begun = Date.now();
    const before = await fixture.work();
    const statuses: number[] = [];
    for (let nth = 0; nth < asked.length; nth += 1) statuses.push(await trigger(fixture, nth));
    must(
      statuses.every((status) => status === 202),
      `triggers were answered ${statuses.join(", ")}`,
    );
    await sleep(Math.max(0, begun + 60_000 - Date.now()));
    const seen = (await audit.read()).filter(({ at }) => at >= begun);
    const writes = seen.filter((one) => isWrite(one) && !isLease(one));
    must(writes.length === 0, `${writes.length} writes: ${JSON.stringify(writes.slice(0, 10))}`);
    const after = await fixture.work();
    const taken = after.taken - before.taken;
    must(taken > 0, "the function reconcile took nothing");
    must(after.failed === before.failed, `${after.failed - before.failed} of ${taken} calls or messages failed`);
    // The minute may end while a resync's message is worked on.
    for (const until = performance.now() + restMs; running(fixture) > 0 && performance.now() < until; )
      await sleep(500);
    must(running(fixture) === 0, `${running(fixture)} processes of functions still run`);
    const reads = tableOf(seen.filter((one) => !isWrite(one))).map(([what, count]) => `${count} ${what}`);
    return [
      `${taken} calls or messages, then no process; requests for leases: ${seen.filter(isLease).length}`,
      `reads: ${reads.join(", ")}`,
    ];
  },
};
