/** The cost of work, as counted by queue, functions and API server, and its report. */
import { setTimeout as sleep } from "node:timers/promises";
import { PurgeQueueCommand } from "@aws-sdk/client-sqs";
import { type Audit, type Request, tableOf } from "../real/cluster/audit.ts";
import type { Cluster } from "../real/cluster/cluster.ts";
import type { Cloud } from "../real/lambda/cloud.ts";
import type { Fate } from "../real/lambda/fates.ts";
import { type Entry, gigabyteSeconds } from "../real/lambda/ledger.ts";
import { depthOf } from "../real/lambda/queues.ts";
import type { Figure } from "./figures.ts";

/** A message that a function sent, and the time. */
export type Sent = { readonly at: number; readonly reason: string };

/** The messages that functions sent to the queues, and the timers among them. */
export type Mail = {
  readonly sent: Sent[];
  /** The times at which the timers in the delay queue are due, epoch ms; without those that were deleted. */
  readonly due: number[];
};

/** Returns the mail, which is empty at first, and its listener for `openCloud`. */
export const openMail = () => {
  const mail: Mail = { sent: [], due: [] };
  return {
    mail,
    heard: (_: string, body: string, delaySeconds: number): void => {
      const reason = /"reason":"([^"]*)"/.exec(body)?.[1] ?? "";
      mail.sent.push({ at: Date.now(), reason });
      if (delaySeconds > 0) mail.due.push(Date.now() + 1_000 * delaySeconds);
    },
  };
};

export type Bench = {
  readonly cluster: Cluster;
  readonly cloud: Cloud;
  readonly audit: Audit;
  readonly mail: Mail;
  /** The fate of environments; a measurement of starts changes it. */
  readonly fate: { now: Fate };
};

/**
 * The cost of one or several applications. Forwarder and resync run without work too, so they are counted separately.
 */
export type Cost = {
  readonly entries: readonly Entry[];
  readonly sqs: number;
  readonly requests: readonly Request[];
  readonly gigabyteSeconds: number;
  /** Timers that become due long after the end and find nothing to do: each costs a message and two invocations. */
  readonly timers: number;
  /** The reasons of the messages that functions sent. */
  readonly reasons: readonly string[];
};

/**
 * Looks for other controllers, every 10 s while steps run, and for the listener that a namespace names, once a minute;
 * whatever the number of steps.
 */
export const isLook = ({ resource, name }: Request): boolean =>
  ["leases", "deployments", "namespaces"].includes(resource) ||
  (resource === "checkpoints" && name.startsWith("sightings"));

const isStep = ({ name }: Entry): boolean => name === "reconcile" || name === "wake";

/**
 * Counts the sends of all functions, and the mappings' requests to receive and delete; empty polls do not count for the
 * application.
 */
const sqsRequests = ({ meddler, mappings }: Cloud): number => {
  const sends = Object.values(meddler.requests()).reduce((sum, count) => sum + count, 0);
  return [mappings.keys, mappings.timers].reduce((sum, one) => sum + one.counts().full + one.counts().deletes, sends);
};

/** Time without work after which an application is done; timers that are due in the time of the fence are waited for. */
const stillness = { ms: 3_000, withTimersMs: 20_000 } as const;

/**
 * Resolves when no message is left and no function runs. Timers that are due much later are deleted; returns their
 * number.
 */
export const settled = async ({ cloud, mail }: Bench): Promise<number> => {
  const { queue, queues, mappings } = cloud;
  const until = performance.now() + 180_000;
  const handedOver = (): number => mappings.keys.counts().delivered + mappings.timers.counts().delivered;
  for (let [since, seen] = [Date.now(), handedOver()]; ; ) {
    await sleep(250);
    const [depth, timers] = [await depthOf(queue, queues.fifo), await depthOf(queue, queues.delay)];
    const now = Date.now();
    if (depth > 0 || mappings.keys.isBusy() || mappings.timers.isBusy() || handedOver() !== seen)
      [since, seen] = [now, handedOver()];
    const comes = timers > 0 && mail.due.some((at) => at > since && at < since + stillness.withTimersMs);
    if (!comes && now - since >= stillness.ms) {
      if (timers > 0) await queue.send(new PurgeQueueCommand({ QueueUrl: queues.delay }));
      mail.due.length = 0;
      return timers;
    }
    if (performance.now() > until) throw new Error(`${depth} messages are left three minutes after the last life`);
  }
};

export const costOf = async (bench: Bench, work: () => Promise<unknown>): Promise<Cost> => {
  const { cloud, audit, mail } = bench;
  const sent = mail.sent.length;
  const before = { entries: cloud.ledger.entries.length, sqs: sqsRequests(cloud), log: (await audit.read()).length };
  await work();
  const timers = await settled(bench);
  const entries = cloud.ledger.entries.slice(before.entries).filter(isStep);
  const wrong = entries.filter(({ ended }) => ended !== "answered");
  if (wrong.length > 0) throw new Error(`${wrong.length} invocations of ${wrong[0]?.name} did not end well`);
  const requests = (await audit.read()).slice(before.log).filter(({ agent }) => agent.startsWith("rekindle-reconcile"));
  return {
    entries,
    sqs: sqsRequests(cloud) - before.sqs,
    requests,
    timers,
    reasons: mail.sent.slice(sent).map(({ reason }) => reason),
    gigabyteSeconds: gigabyteSeconds(entries),
  };
};

const meanOf = (costs: readonly Cost[], value: (cost: Cost) => number): number =>
  costs.reduce((sum, cost) => sum + value(cost), 0) / costs.length;

const measures = [
  ["invocations", "invocations", (cost: Cost) => cost.entries.length],
  ["sqs-requests", "requests", (cost: Cost) => cost.sqs],
  ["api-requests", "requests", ({ requests }: Cost) => requests.filter((one) => !isLook(one)).length],
  ["looks", "requests", ({ requests }: Cost) => requests.filter(isLook).length],
  ["gb-seconds-of-1000", "GB-s", (cost: Cost) => cost.gigabyteSeconds * 1_000],
] as const;

/** One row of the table: the difference between `costs` and `base`, divided by `parts`. */
export type Row = {
  readonly name: string;
  readonly says: string;
  readonly costs: readonly Cost[];
  readonly base?: readonly Cost[];
  readonly parts?: number;
  readonly aims?: Readonly<Record<string, number>>;
};

export const figuresOf = ({ name, costs, base = [], parts = 1, aims = {} }: Row): readonly Figure[] =>
  measures.map(([what, unit, value]) => {
    const more = meanOf(costs, value) - (base.length === 0 ? 0 : meanOf(base, value));
    const aim = aims[what];
    return { name: `functions.${name}.${what}`, value: more / parts, unit, ...(aim === undefined ? {} : { aim }) };
  });

/** Prints one line per row. */
export const tabulate = (rows: readonly Row[]): void => {
  const width = 12;
  console.log(
    `${"per".padEnd(60)}${["invocations", "SQS", "API", "looks", "mGB-s"].map((text) => text.padStart(width)).join("")}`,
  );
  for (const row of rows) {
    const cells = figuresOf(row).map(({ value, aim }) =>
      `${value.toFixed(1)}${aim === undefined ? "" : ` (≤ ${aim})`}`.padStart(width),
    );
    console.log(`${row.says.padEnd(60)}${cells.join("")}`);
  }
};

/** `Pod crowd-7-driver changed` is told as `Pod changed`. */
const withoutName = (reason: string): string => reason.replace(/^(\S+) \S+ (\S+)$/, "$1 $2");

/** Prints for one of so many `parts` the messages by their reasons, and the requests to the API server. */
export const tell = (name: string, costs: readonly Cost[], parts = 1): void => {
  const counts = Object.entries(
    Object.groupBy(
      costs.flatMap(({ reasons }) => reasons),
      withoutName,
    ),
  );
  const texts = counts.map(([reason, all = []]) => `${(all.length / costs.length / parts).toFixed(1)} ${reason}`);
  console.log(`messages of ${name}, by reason: ${texts.sort().reverse().join(", ")}`);
  console.log(`API requests of ${name}, by verb and resource:`);
  for (const [what, count] of tableOf(costs.flatMap(({ requests }) => requests)))
    console.log(`  ${(count / costs.length / parts).toFixed(1).padStart(6)}  ${what}`);
};

/** Prints one application's invocations, each with the messages that caused it and its requests to the API server. */
export const recount = ({ mail }: Bench, life: string, { entries, requests }: Cost): void => {
  console.log(`${life}, its invocations, what called for them and what they asked for:`);
  let before = entries[0] === undefined ? 0 : entries[0].at - 3_000;
  for (const { name, at, durationMs } of entries) {
    const until = at + durationMs;
    const called = mail.sent.filter((message) => message.at > before && message.at <= at).map(({ reason }) => reason);
    const asked = tableOf(requests.filter((one) => one.at >= at - 1 && one.at <= until + 1));
    const list = asked.map(([what, count]) => (count === 1 ? what : `${count} × ${what}`)).join(", ");
    console.log(`  ${name} (${durationMs.toFixed(0)} ms) called by ${called.join(" + ") || "?"}: ${list || "nothing"}`);
    before = at;
  }
};
