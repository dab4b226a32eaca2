/**
 * `npm run bench -- restart`: many settled SparkApplications with their records on a real API server, and a host that
 * starts among them with an empty cache. A tenth are submitted and wait for a node, the others are suspended. Measured
 * from outside: the host's figures in /proc, the API server's counts of its requests and of its writes.
 */
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Api } from "../real/cluster/api.ts";
import { type Audit, isWrite, openAudit } from "../real/cluster/audit.ts";
import { startCluster } from "../real/cluster/cluster.ts";
import { build, type HostProcess, install, startHost } from "../real/e2e/installed.ts";
import { ensure } from "../real/setup/ensure.ts";
import { each } from "../support/parallel.ts";
import { sparkPi } from "../support/pi.ts";
import type { Figure } from "./figures.ts";
import { countFlow, dispatched, writing } from "./flow.ts";
import { countListed, stateOf } from "./pages.ts";
import { account, applications } from "./submit.ts";

const submittedEvery = 10;
const merge = "application/merge-patch+json";
const quietSeconds = 15;
const longestSeconds = 480;
/** A host lists everything that it watches, and begins its first resync at once. */
const settlingMs = 10_000;

const isSubmitted = (index: number): boolean => index % submittedEvery === 0;

const applicationAt = (index: number): object =>
  sparkPi(`restart-${index}`, {
    executor: { instances: 2, cores: 1, memory: "512m" },
    ...(isSubmitted(index) ? {} : { suspend: true }),
  });

const created = async (api: Api, index: number): Promise<void> => {
  const reply = await api.call("POST", applications, applicationAt(index));
  if (reply.status !== 201) throw new Error(`create restart-${index}: ${JSON.stringify(reply.body)}`);
  if (index % 1_000 === 999) process.stderr.write(`${index + 1} created\n`);
};

/** Patches an application, so that its key gets a step. */
const touched = async (api: Api, index: number): Promise<void> => {
  const body = { metadata: { annotations: { "bench.example/touched": "once" } } };
  const reply = await api.call("PATCH", `${applications}/restart-${index}`, body, merge);
  if (reply.status !== 200) throw new Error(`patch restart-${index}: ${JSON.stringify(reply.body)}`);
};

/** The highest number of requests per second of a host at rest: leases, and an occasional resync. */
const fewRequests = 5;

/** Resolves when the host has been at rest for `forSeconds`, and has written nothing. */
export const quiet = async (api: Api, mostSeconds = longestSeconds, forSeconds = quietSeconds): Promise<void> => {
  let last = { asked: -1, written: -1 };
  for (let [still, seconds] = [0, 0]; still < forSeconds; seconds++) {
    const now = { asked: await dispatched(api), written: await dispatched(api, writing) };
    const rests = now.written === last.written && now.asked - last.asked <= fewRequests;
    still = rests ? still + 1 : 0;
    last = now;
    if (seconds % 10 === 9) process.stderr.write(`${now.asked} reads, ${now.written} writes so far\n`);
    if (seconds > mostSeconds) throw new Error(`the host is still at work after ${mostSeconds} s`);
    await sleep(1_000);
  }
};

const ended = async (host: HostProcess, log: string): Promise<void> => {
  if ((await host.stop()) !== 0) throw new Error(`the host did not end well; its log is ${log}`);
};

/**
 * Lets a host process all applications, and take one more step for each submitted one: its driver exists by then, so no
 * status is left to write.
 */
const prepare = async (api: Api, kubeconfig: string, log: string, count: number): Promise<void> => {
  const host = startHost(kubeconfig, log, ["--log-level", "warn"]);
  await api.until(applications, ({ status }) => status === 200, 20_000);
  const all = Array.from({ length: count }, (_, index) => index);
  await each(all, (index) => created(api, index));
  await quiet(api);
  const shown = await countListed(api, applications, (one) => stateOf(one) !== undefined);
  if (shown < count) throw new Error(`${shown} of ${count} applications show a state; the host's log is ${log}`);
  await each(all.filter(isSubmitted), (index) => touched(api, index));
  await quiet(api);
  await ended(host, log);
};

/**
 * Returns the number of writes since an instant, epoch ms; the host's question for its rights is none, although it is a
 * POST. Throws, with the first of them, when `most` is less.
 */
export const writesSince = async (audit: Audit, since: number, most: number): Promise<number> => {
  const made = (await audit.read()).filter((one) => isWrite(one) && one.at >= since);
  const lines = made.slice(0, 20).map(({ verb, resource, name, code }) => `${verb} ${resource} ${name} (${code})`);
  if (made.length > most) throw new Error(`${made.length} write(s) although nothing had changed:\n${lines.join("\n")}`);
  return made.length;
};

/** Throws when anything was written, since nothing had changed. */
export const benchRestart = async (count: number): Promise<readonly Figure[]> => {
  await ensure(["go"]);
  await build();
  const dir = await mkdtemp(join(tmpdir(), "rekindle-bench-"));
  const audit = await openAudit(join(dir, "audit"), "rekindle", "rekindle");
  const cluster = await startCluster({ nodes: 0, dir, extra: audit.flags });
  const { api } = cluster;
  try {
    const kubeconfig = await install(cluster, undefined);
    await countFlow(api);
    await countFlow(api, writing);
    await prepare(api, kubeconfig, join(dir, "earlier.log"), count);
    const [asked, began, since] = [await dispatched(api), performance.now(), Date.now()];
    const host = startHost(kubeconfig, join(dir, "measured.log"), ["--log-level", "warn"]);
    await sleep(settlingMs);
    await quiet(api);
    const seconds = (performance.now() - began) / 1_000;
    const { cpu, peak } = await account(host);
    const requests = (await dispatched(api)) - asked;
    await ended(host, join(dir, "measured.log"));
    const writes = await writesSince(audit, since, 0);
    return [
      { name: `restart.${count}.writes`, value: writes, unit: "writes", aim: 0 },
      { name: `restart.${count}.host-cpu`, value: cpu, unit: "s", aim: 60 },
      { name: `restart.${count}.host-peak-rss`, value: peak, unit: "MiB", aim: 512 },
      { name: `restart.${count}.watched-for`, value: seconds, unit: "s" },
      { name: `restart.${count}.reads`, value: requests, unit: "requests" },
    ];
  } finally {
    await cluster.stop();
  }
};
