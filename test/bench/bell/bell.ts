/**
 * `npm run bench -- bell`: functions whose keys come from the bell, beside the same functions behind a forwarder in the same run.
 * The built bundles are processes, on a real API server and a queue that speaks SQS; records are in a table.
 */
import { rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { isWrite } from "../../real/cluster/audit.ts";
import { type Deployment, openDeployment } from "../cloud/deployment.ts";
import { prices } from "../cloud/prices.ts";
import { dollars, none, part, plus, type Use } from "../cloud/use.ts";
import { type Counted, usedBy, useOf } from "../cloud/used.ts";
import { settled } from "../costs.ts";
import { type Figure, quantile } from "../figures.ts";
import { type Life, live, podsPath } from "../kubelet.ts";
import { instant } from "../recovery/standins.ts";
import { account, application, applications } from "../submit.ts";
import { crowd, liveCrowd } from "./crowd.ts";
import { type Rings, ringsBetween, ringsSoFar } from "./rings.ts";
import { type BellSender, forwarderOf, openBellSender, type Sender } from "./senders.ts";
import { addedByRings } from "./writer.ts";

/** Changes in a round, each when the one before it is done. */
const changes = 40;
const apartMs = 400;

/** The application of the table of costs: ten executors, of which one is lost. */
const ten: Life = { executors: 10, losses: 1, paceMs: 2_500 };
const short: Life = { executors: 0, losses: 0, paceMs: 500 };

const restMs = 15_000;

const isOf = (name: string, app: string): boolean => [app, `${app}-`, `${app}.`].some((one) => name.startsWith(one));

/** Returns the ms from each creation's sending to the first write of a function about it. */
const reactions = async ({ cluster, audit }: Counted, word: string): Promise<readonly number[]> => {
  const began = new Map<string, number>();
  for (let index = 0; index < changes; index += 1) {
    const app = `${word}-${String(index).padStart(3, "0")}`;
    began.set(app, instant());
    const { status, body } = await cluster.api.call("POST", applications, application(app));
    if (status !== 201) throw new Error(`create ${app}: ${JSON.stringify(body)}`);
    await sleep(apartMs);
  }
  await sleep(2_000);
  const writes = (await audit.read()).filter((one) => isWrite(one) && one.agent.startsWith("rekindle-reconcile"));
  return [...began].map(([app, at]) => {
    const first = writes.find(({ name }) => isOf(name, app));
    if (first === undefined) throw new Error(`no write for ${app}`);
    return first.at - at;
  });
};

/** Deletes the applications and pods of a round, and waits until the functions are done with that. */
const cleared = async (bench: Counted): Promise<void> => {
  const { api } = bench.cluster;
  await api.call("DELETE", applications);
  await sleep(1_000);
  await api.call("DELETE", podsPath, { gracePeriodSeconds: 0 });
  await settled(bench);
};

/** The bell's own part of an application. */
type BellPart = {
  readonly rings: Rings;
  readonly messages: number;
  readonly later: number;
  readonly requests: number;
  readonly cpu: number;
};

/** Returns a count of the bell's work from now on. */
const countBell = async ({ cluster }: Counted, bell: BellSender): Promise<() => Promise<BellPart>> => {
  const now = async () => ({
    ...{ rings: await ringsSoFar(cluster.api), requests: bell.requests(), mail: { ...bell.mail } },
    cpu: (await account({ pid: bell.pid() })).cpu,
  });
  const before = await now();
  return async () => {
    const { rings, requests, cpu, mail } = await now();
    return {
      rings: ringsBetween(before.rings, rings),
      messages: mail.keys - before.mail.keys,
      later: mail.later - before.mail.later,
      requests: requests - before.requests,
      cpu: cpu - before.cpu,
    };
  };
};

type Round = { readonly delays: readonly number[]; readonly use: Use };

const roundOf = async (bench: Counted, word: string): Promise<Round> => {
  const delays = await reactions(bench, word);
  await cleared(bench);
  const { use } = await usedBy(bench, () => live(bench.cluster.api, `${word}-ten`, ten));
  return { delays, use };
};

/** A round of the bell, in which only the application of ten executors is counted. */
const bellRoundOf = async (
  bench: Counted,
  bell: BellSender,
  word: string,
): Promise<Round & { readonly own: BellPart }> => {
  const delays = await reactions(bench, word);
  await cleared(bench);
  const counted = await countBell(bench, bell);
  const { use } = await usedBy(bench, () => live(bench.cluster.api, `${word}-ten`, ten));
  const own = await counted();
  return { delays, use, own };
};

/** Returns what the bell uses on Lambda for these rings: an invocation each, as long as its writer waited. */
const useOfBell = ({ rings, requests, cpu }: BellPart): Use => {
  const [durationMs, cpuMs] = [(1_000 * rings.seconds) / rings.calls, (1_000 * cpu) / rings.calls];
  const one = useOf([{ name: "bell", ended: "answered", at: 0, memoryMb: 0, durationMs, cpuMs }], 0);
  return plus({ ...none, sqs: requests }, { ...none, ...one }, rings.calls);
};

const crowdFigures = async (bench: Counted, bell: BellSender): Promise<readonly Figure[]> => {
  const counted = await countBell(bench, bell);
  await liveCrowd(bench.cluster.api);
  const { rings, messages, later } = await counted();
  await settled(bench);
  const of = `bell.job-of-${crowd}`;
  return [
    { name: `${of}.rings`, value: rings.calls, unit: "rings" },
    { name: `${of}.messages`, value: messages, unit: "messages", aim: 25 },
    { name: `${of}.later-messages`, value: later, unit: "messages" },
    { name: `${of}.lost-rings`, value: rings.lost, unit: "rings", aim: 0 },
  ];
};

const restFigures = async (bench: Counted, bell: BellSender): Promise<readonly Figure[]> => {
  const counted = await countBell(bench, bell);
  await sleep(restMs);
  const { rings, messages, later, cpu } = await counted();
  const aMinute = (value: number): number => (value * 60_000) / restMs;
  return [
    { name: "bell.rest.rings-a-minute", value: aMinute(rings.calls), unit: "rings", aim: 0 },
    { name: "bell.rest.messages-a-minute", value: aMinute(messages + later), unit: "messages", aim: 0 },
    { name: "bell.rest.cpu-a-minute", value: aMinute(cpu), unit: "s" },
  ];
};

/** Runs the work while a sender sends the keys. */
const during = async <T>(sender: Sender, work: () => Promise<T>): Promise<T> => {
  const stop = await sender.start();
  try {
    return await work();
  } finally {
    await stop();
  }
};

const tell = (text: string): void =>
  void process.stderr.write(`${(performance.now() / 1_000).toFixed(0)} s: ${text}\n`);

type Measured = {
  readonly belled: readonly (Round & { readonly own: BellPart })[];
  readonly forwarded: readonly Round[];
  readonly more: readonly Figure[];
};

/** The rounds alternate, so that what slows the machine down for a while slows both. */
const measured = async (deployment: Deployment, bell: BellSender): Promise<Measured> => {
  const { bench } = deployment;
  const { api } = bench.cluster;
  const forwarder = forwarderOf(deployment);
  const forwarded: Round[] = [];
  const belled: (Round & { readonly own: BellPart })[] = [];
  await during(forwarder, async () => {
    await live(api, "warm-up", short);
    await cleared(bench);
  });
  for (const nth of [1, 2]) {
    forwarded.push(await during(forwarder, () => roundOf(bench, `forward${nth}`)));
    tell(`round ${nth} of the forwarder`);
    belled.push(await during(bell, () => bellRoundOf(bench, bell, `bell${nth}`)));
    tell(`round ${nth} of the bell`);
  }
  const more = await during(bell, async () => {
    const rest = await restFigures(bench, bell);
    const many = await crowdFigures(bench, bell);
    tell(`a job of ${crowd} pods`);
    return [...rest, ...many, ...(await addedByRings(api))];
  });
  return { belled, forwarded, more };
};

const mean = (all: readonly number[]): number => all.reduce((sum, one) => sum + one, 0) / all.length;

const sumOf = (uses: readonly Use[]): Use => uses.reduce((sum, one) => plus(sum, one), none);

const reactionFigures = (name: string, rounds: readonly Round[], aims: readonly [p50?: number, p99?: number] = []) => {
  const delays = rounds.flatMap((round) => round.delays);
  return [0.5, 0.99].map((share, at): Figure => {
    const aim = aims[at];
    return {
      ...{ name: `bell.change-to-write.${name}.p${100 * share}`, value: quantile(delays, share), unit: "ms" },
      ...(aim === undefined ? {} : { aim }),
    };
  });
};

const thousand = 1_000;

const costFigures = ({ belled, forwarded }: Measured): readonly Figure[] => {
  const steps = part(sumOf(belled.map(({ use }) => use)), belled.length);
  const own = part(sumOf(belled.map((round) => useOfBell(round.own))), belled.length);
  const meanOf = (value: (part: BellPart) => number): number => mean(belled.map((round) => value(round.own)));
  const rings = meanOf((one) => one.rings.calls);
  const behind = part(sumOf(forwarded.map(({ use }) => use)), forwarded.length);
  const door = (rings * prices.httpApi.usd) / 1_000_000;
  const of = "bell.application";
  return [
    { name: `${of}.rings`, value: rings, unit: "rings" },
    { name: `${of}.messages`, value: meanOf(({ messages, later }) => messages + later), unit: "messages" },
    { name: `${of}.lost-rings`, value: meanOf((one) => one.rings.lost), unit: "rings", aim: 0 },
    { name: `${of}.invocations`, value: steps.invocations, unit: "invocations" },
    { name: `${of}.invocations.forwarder`, value: behind.invocations, unit: "invocations" },
    { name: `${of}.bell-gb-seconds-of-1000`, value: thousand * own.gigabyteSeconds, unit: "GB-s" },
    { name: "bell.1000-applications", value: thousand * (dollars(plus(steps, own)) + door), unit: "US$" },
    { name: "bell.1000-applications.of-these-the-bell", value: thousand * (dollars(own) + door), unit: "US$" },
    { name: "bell.1000-applications.forwarder", value: thousand * dollars(behind), unit: "US$" },
  ];
};

/** Throws when work was wrong or missing; slowness and costs are only reported. */
export const benchBell = async (): Promise<readonly Figure[]> => {
  // Without Volcano's scheduler groups wait for nobody.
  const deployment = await openDeployment({ REKINDLE_GANG: "none" });
  try {
    const bell = await openBellSender(deployment);
    const all = await measured(deployment, bell).finally(async () => {
      await deployment.endCloud();
      await bell.close();
    });
    await rm(deployment.dir, { recursive: true, force: true });
    const forwarder = reactionFigures("forwarder", all.forwarded);
    const [median] = forwarder;
    const aims = [1.5 * (median?.value ?? Number.NaN), 1_000] as const;
    return [...reactionFigures("bell", all.belled, aims), ...forwarder, ...costFigures(all), ...all.more];
  } finally {
    await deployment.close();
  }
};
