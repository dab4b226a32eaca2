/**
 * `npm run bench -- fairness`: one tenant's many new objects beside another's ten, and a host that starts among many
 * objects. The simulator behind HTTP and the built host run in separate processes. A block of the host's event loop is
 * the wait of its liveness probe, less the time for which the kernel gave it no processor.
 */
import { fork } from "node:child_process";
import { mkdtemp, writeFile } from "node:fs/promises";
import { constants, setPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type HostUnderAttack, openHost } from "../proof/attack/host.ts";
import { build } from "../real/e2e/installed.ts";
import { few, postAll } from "./applications.ts";
import type { Figure } from "./figures.ts";
import { type Server, startServer } from "./served.ts";

/** Rounds of ten applications per measurement. The figure is their median. */
const rounds = 7;
const longestMs = 600_000;

/** Creations per second of each client of the crowd: what a client of controller-runtime sends by default. */
const perSecond = 20;

/**
 * Creates `count` applications of a tenant from a process of its own, which runs at the lowest priority: on a cluster
 * creators do not share processors with host and API server. The clients keep their rate whatever the server's answers
 * take, and create faster than a host reconciles. `created`: the seconds that it took; `end` lets it create no more.
 */
const crowdOf = (
  server: Server,
  word: string,
  count: number,
): { readonly created: Promise<number>; readonly end: () => void } => {
  const began = performance.now();
  const args = [server.url, "large", word, String(count), String(perSecond)];
  const child = fork(join(import.meta.dirname, "creators.ts"), args);
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  const created = new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) =>
      code === 0 || child.killed
        ? resolve((performance.now() - began) / 1000)
        : reject(new Error(`the creators ended with ${code}`)),
    );
  });
  return { created, end: () => void child.kill() };
};

/** Matches the name of a driver pod in an event of a watch. */
const driverName = /"name":"([-a-z0-9]+-driver)"/;

/**
 * Watches the driver pods of a namespace. A watch is one request: reading each pod would measure how long a read waits
 * behind the crowd's requests at the server.
 */
const watchDrivers = async ({ url }: Server, namespace: string) => {
  const aborted = new AbortController();
  const answer = await fetch(`${url}/api/v1/namespaces/${namespace}/pods?watch=1`, { signal: aborted.signal });
  const seen = new Set<string>();
  const reading = async (): Promise<void> => {
    const text = new TextDecoder();
    let rest = "";
    for await (const chunk of answer.body ?? []) {
      const lines = `${rest}${text.decode(chunk, { stream: true })}`.split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const name = driverName.exec(line)?.[1];
        if (name !== undefined) seen.add(name);
      }
    }
  };
  const ended = reading().catch(() => {});
  return {
    seen,
    close: async () => {
      aborted.abort();
      await ended;
    },
  };
};

/** Returns the duration of a read of the server, ms. */
const readOf = async ({ url }: Server): Promise<number> => {
  const asked = performance.now();
  await (await fetch(`${url}/api/v1/namespaces/small`)).arrayBuffer();
  return performance.now() - asked;
};

/** Milliseconds until ten applications of a tenant have their drivers, and of a read of the server then. */
type Ten = { readonly ms: number; readonly readMs: number };

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;

const roundOf = async (server: Server, namespace: string, word: string): Promise<Ten> => {
  const drivers = Array.from({ length: few }, (_, at) => `${word}-${at}-driver`);
  const watch = await watchDrivers(server, namespace);
  const began = performance.now();
  await postAll(server.url, namespace, word, few);
  const left = (): number => drivers.filter((name) => !watch.seen.has(name)).length;
  for (; left() > 0; await sleep(5))
    if (performance.now() - began > longestMs) throw new Error(`${left()} of ${few} drivers are missing`);
  const ms = performance.now() - began;
  await watch.close();
  return { ms, readMs: await readOf(server) };
};

/** Measures ten applications of a tenant, several times one after the other. Returns the medians. */
const tenOf = async (server: Server, namespace: string, word: string): Promise<Ten> => {
  const all: Ten[] = [];
  while (all.length < rounds) all.push(await roundOf(server, namespace, `${word}-${all.length}`));
  return { ms: median(all.map((one) => one.ms)), readMs: median(all.map((one) => one.readMs)) };
};

/** `profile`: a folder for CPU profiles, one per host. */
type Place = { readonly dir: string; readonly profile: string | undefined };

const opened = ({ dir, profile }: Place, name: string, more: readonly string[] = []): Promise<HostUnderAttack> => {
  const flags =
    profile === undefined ? [] : ["--cpu-prof", "--cpu-prof-dir", profile, "--cpu-prof-name", `${name}.cpuprofile`];
  return openHost(join(dir, "kubeconfig"), join(dir, `${name}.log`), ["--log-level", "warn", ...more], { node: flags });
};

/** Runs a measurement with its own host, which stops with it in any case. */
const beside = async <T>(
  place: Place,
  name: string,
  measure: (host: HostUnderAttack) => Promise<T>,
  more: readonly string[] = [],
): Promise<T> => {
  const host = await opened(place, name, more);
  try {
    const measured = await measure(host);
    if ((await host.stop()) !== 0) throw new Error("the host did not end well");
    return measured;
  } finally {
    await host.kill();
  }
};

/** Measures the blocks of the event loop of a host that starts among `count` objects. */
const startAmong = async (place: Place, count: number): Promise<readonly Figure[]> => {
  const since = Date.now();
  return await beside(place, "start", async (host) => {
    await sleep(15_000);
    return [
      {
        name: `fairness.start-among-${count}.longest-block`,
        value: host.probe.longestSince(since),
        unit: "ms",
        aim: 100,
      },
      { name: `fairness.start-among-${count}.peak-rss`, value: host.resident(), unit: "MiB", aim: 450 },
    ];
  });
};

type TenDuring = Ten & { readonly createdPerSecond: number };

/**
 * Measures ten applications while a crowd is created; the creation is well under way when they are. `last` is called when
 * they are measured.
 */
const tenDuring = async (
  server: Server,
  word: string,
  count: number,
  last: (crowd: ReturnType<typeof crowdOf>) => void = () => {},
): Promise<TenDuring> => {
  let isOver = false;
  const crowd = crowdOf(server, `crowd-${word}`, count);
  const created = crowd.created.finally(() => {
    isOver = true;
  });
  const measured = async (): Promise<Ten> => {
    await sleep(2_000);
    const ten = await tenOf(server, "small", word);
    if (isOver) throw new Error(`${count} applications were created before the last round ended: take more`);
    last(crowd);
    return ten;
  };
  const [ten, seconds] = await Promise.all([measured(), created]);
  return { ...ten, createdPerSecond: count / seconds };
};

/**
 * Measures the same ten where the crowd has a host of its own: the difference to a shared host is the host's, the rest
 * is the server's, which answers both.
 */
const withOwnHost = (server: Server, place: Place, count: number): Promise<TenDuring> => {
  const scope = (namespace: string): readonly string[] => ["--namespaces", namespace];
  // Nothing is measured after these ten, so the rest of the crowd is not created.
  const ten = (): Promise<TenDuring> => tenDuring(server, "own", count, ({ end }) => end());
  const small = (): Promise<TenDuring> => beside(place, "own", ten, scope("small"));
  return beside(place, "other", small, scope("large"));
};

/** Measures ten applications alone, ten during a crowd's creation, and ten after it. */
const amongCrowd = (
  server: Server,
  place: Place,
  count: number,
): Promise<{ readonly among: TenDuring; readonly figures: readonly Figure[] }> =>
  beside(place, "crowd", async (host) => {
    await tenOf(server, "small", "warm");
    const alone = await tenOf(server, "small", "alone");
    const aim = Math.round(2 * alone.ms);
    const since = Date.now();
    const among = await tenDuring(server, "beside", count);
    const late = await tenOf(server, "small", "late");
    const block = host.probe.longestSince(since);
    const figures = [
      { name: "fairness.ten-alone", value: alone.ms, unit: "ms" },
      { name: `fairness.ten-while-${count}-are-created`, value: among.ms, unit: "ms", aim },
      { name: `fairness.ten-behind-${count}`, value: late.ms, unit: "ms", aim },
      { name: "fairness.crowd-created-per-second", value: among.createdPerSecond, unit: "objects" },
      { name: "fairness.read-of-the-server-alone", value: alone.readMs, unit: "ms" },
      { name: `fairness.read-of-the-server-while-${count}-are-created`, value: among.readMs, unit: "ms" },
      { name: `fairness.longest-block-beside-${count}`, value: block, unit: "ms", aim: 100 },
    ];
    return { among, figures };
  });

/** Throws when work was wrong or missing; slowness is only reported. */
export const benchFairness = async (count: number, profile: string | undefined): Promise<readonly Figure[]> => {
  await build();
  const dir = await mkdtemp(join(tmpdir(), "rekindle-fairness-"));
  const place = { dir, profile };
  const server = await startServer();
  try {
    await writeFile(join(dir, "kubeconfig"), server.kubeconfig);
    const { among, figures } = await amongCrowd(server, place, count);
    const start = await startAmong(place, count);
    const own = await withOwnHost(server, place, count);
    return [
      ...figures,
      ...start,
      { name: `fairness.ten-of-a-host-of-their-own-while-${count}-are-created`, value: own.ms, unit: "ms" },
      { name: "fairness.shared-host-over-own-host", value: among.ms / own.ms, unit: "times", aim: 1.5 },
    ];
  } finally {
    server.child.kill();
  }
};
