/**
 * `npm run bench -- cloud`: the cost of a deployment on AWS, with a real API server; `deployment.ts` starts it, prices are in
 * `prices.ts`, formulas in `bill.ts`.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { SendMessageCommand } from "@aws-sdk/client-sqs";
import { startHost } from "../../real/e2e/installed.ts";
import { recount, settled } from "../costs.ts";
import type { Figure } from "../figures.ts";
import { type Life, live } from "../kubelet.ts";
import { account } from "../submit.ts";
import { applicationOf, type Measured, notesOf, tableOf } from "./bill.ts";
import { ended, openDeployment, startForwarder } from "./deployment.ts";
import { reactionOf } from "./reaction.ts";
import { leastOf, restAims, restOf, restTable, totalOf } from "./rest.ts";
import { figuresOfStarts, type Start, startsOf } from "./starts.ts";
import { part, plus, type Use } from "./use.ts";
import { alarmMetrics, type Counted, dashboards, restingGauges, usedBy, useOf } from "./used.ts";

/** An application runs longer than the 16 s in which a late submission may still arrive, as with a real driver. */
const alone: Life = { executors: 0, losses: 0, paceMs: 4_300 };
const withExecutors: Life = { executors: 4, losses: 0, paceMs: 3_000 };
const withLoss: Life = { executors: 4, losses: 1, paceMs: 3_000 };
const short: Life = { ...alone, paceMs: 500 };

const rested = { cluster: "default", kind: "SparkApplication", namespace: "default", name: "warm-up" };

/** Measures a timer that finds an application at rest. */
const timerOf = async (bench: Counted): Promise<Use> => {
  const { queue, queues } = bench.cloud;
  const MessageBody = JSON.stringify({ message: { ...rested, reason: "timer" }, id: "bench-timer" });
  const { use } = await usedBy(bench, () =>
    queue.send(new SendMessageCommand({ QueueUrl: queues.delay, MessageBody })),
  );
  // The benchmark sent it itself, past the meddler, so the request is added.
  return { ...use, sqs: use.sqs + 1 };
};

/** Returns the use of one application, including the timers that are due long after its end. */
const useOfLife = async (bench: Counted, name: string, life: Life, timer: Use): Promise<Use> => {
  const { use, cost, timers } = await usedBy(bench, () => live(bench.cluster.api, name, life));
  recount(bench, name, cost);
  process.stderr.write(`${name}: ${use.invocations} invocations, ${timers} timers left\n`);
  // Their sending is already counted.
  return plus(use, { ...timer, sqs: timer.sqs - 1 }, timers);
};

/** Measures resyncs that find nothing to do; the first one only settles leftovers. */
const resyncOf = async ({ cloud, units }: Counted): Promise<Use> => {
  const runs = 3;
  await cloud.functions.resync.invoke({ id: "bench-settling" });
  const [from, before] = [cloud.ledger.entries.length, units.used()];
  for (let run = 0; run < runs; run += 1) await cloud.functions.resync.invoke({ id: `bench-${run}` });
  const entries = cloud.ledger.entries.slice(from).filter(({ name }) => name === "resync");
  const { writes, reads } = units.used();
  const used = { ...useOf(entries, 0), sqs: 0, api: 0, writes: writes - before.writes, reads: reads - before.reads };
  return part(used, runs);
};

/** Measures the same applications under a host: its reaction and its CPU. */
const byHost = async (bench: Counted, kubeconfig: string, log: string): Promise<Pick<Measured, "host" | "hostCpu">> => {
  const host = startHost(kubeconfig, log, ["--log-level", "warn"]);
  await sleep(8_000);
  const host0 = await reactionOf(bench, "host");
  const before = await account(host);
  await live(bench.cluster.api, "host-life", withLoss);
  await sleep(2_000);
  const after = await account(host);
  if ((await host.stop()) !== 0) throw new Error(`the host did not end well; its log is ${log}`);
  return { host: host0, hostCpu: after.cpu - before.cpu };
};

type Functions = Omit<Measured, "host" | "hostCpu"> & { readonly starts: readonly Start[] };

const byFunctions = async (bench: Counted, dir: string): Promise<Functions> => {
  const forwarder = startForwarder(bench, dir);
  try {
    return await measured(bench, async () => ended(forwarder));
  } finally {
    forwarder.kill("SIGKILL");
  }
};

/** `unwatched` ends the forwarder, so that only the starts are measured. */
const measured = async (bench: Counted, unwatched: () => Promise<void>): Promise<Functions> => {
  await sleep(3_000);
  await live(bench.cluster.api, "warm-up", short);
  await settled(bench);
  const timer = await timerOf(bench);
  const life = await useOfLife(bench, "life", alone, timer);
  const executors = await useOfLife(bench, "executors", withExecutors, timer);
  const loss = await useOfLife(bench, "loss", withLoss, timer);
  const resync = await resyncOf(bench);
  const functions = await reactionOf(bench, "functions");
  await settled(bench);
  await unwatched();
  const starts = await startsOf(bench);
  const forward = starts.find(({ name }) => name === "forward");
  const executor = part(plus(executors, life, -1), withExecutors.executors);
  return {
    ...{ life, executor, resync, functions, starts },
    loss: plus(loss, executors, -1),
    // Its window is one second; the rest is its start.
    forwardStart: ((forward?.coldMs ?? 0) + Math.max(0, (forward?.firstMs ?? 0) - 1_000)) / 1_000,
    lookStart: Math.max(0, (forward?.warmMs ?? 0) - 1_000) / 1_000,
    ...{ alarms: alarmMetrics(), fewAlarms: alarmMetrics(true) },
    ...{ gauges: restingGauges(), dashboards: dashboards() },
  };
};

const figuresOfUse = (name: string, use: Use): readonly Figure[] =>
  [
    ["invocations", use.invocations, "invocations"],
    ["gb-seconds-of-1000", use.gigabyteSeconds * 1_000, "GB-s"],
    ["sqs-requests", use.sqs, "requests"],
    ["api-requests", use.api, "requests"],
    ["write-units", use.writes, "units"],
    ["read-units", use.reads, "units"],
    ["logs", use.logBytes / 1_000, "kB"],
  ].map(([what, value, unit]) => ({ name: `cloud.${name}.${what}`, value: Number(value), unit: String(unit) }));

const told = (measured: Measured, starts: readonly Start[]): readonly Figure[] => {
  for (const line of tableOf(measured)) console.log(line);
  for (const line of notesOf(measured)) console.log(`\n${line}`);
  console.log("");
  for (const line of restTable(measured)) console.log(line);
  const rest = restOf(measured);
  const seconds = (name: string, value: number): Figure => ({ name: `cloud.reaction.${name}`, value, unit: "s" });
  return [
    ...figuresOfStarts(starts),
    ...figuresOfUse("life", measured.life),
    ...figuresOfUse("executor", measured.executor),
    ...figuresOfUse("executor-loss", measured.loss),
    ...figuresOfUse("application", applicationOf(measured)),
    ...figuresOfUse("resync", measured.resync),
    ...restAims.map(({ deployment, aim }): Figure => {
      const value = totalOf(rest, deployment);
      return { name: `cloud.rest.${deployment}`, value, unit: "US$ a month besides the pod", aim };
    }),
    ...restAims.map(({ deployment, aim }): Figure => {
      const value = leastOf(measured, deployment);
      return { name: `cloud.rest.${deployment}.least`, value, unit: "US$ a month besides the pod", aim };
    }),
    seconds("host.p50", measured.host.p50),
    seconds("host.worst", measured.host.worst),
    seconds("functions.p50", measured.functions.p50),
    seconds("functions.worst", measured.functions.worst),
  ];
};

/** Throws when work was wrong or missing; high costs are only reported. */
export const benchCloud = async (): Promise<readonly Figure[]> => {
  const { bench, kubeconfig, dir, endCloud, close } = await openDeployment();
  try {
    const { starts, ...functions } = await byFunctions(bench, bench.logs).finally(endCloud);
    const figures = told({ ...functions, ...(await byHost(bench, kubeconfig, join(dir, "host.log"))) }, starts);
    await rm(dir, { recursive: true, force: true });
    return figures;
  } finally {
    await close();
  }
};
