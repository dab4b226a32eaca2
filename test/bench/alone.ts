/**
 * `npm run bench -- alone`: one SparkApplication at a time on a real API server that has nothing else to do: from the
 * answer to its creation to the arrival of the POST of its driver, by the audit log.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Audit, openAudit } from "../real/cluster/audit.ts";
import { startCluster } from "../real/cluster/cluster.ts";
import { build, install, startHost } from "../real/e2e/installed.ts";
import { ensure } from "../real/setup/ensure.ts";
import { type Figure, quantile } from "./figures.ts";
import { instant } from "./recovery/standins.ts";
import { account, application, applications } from "./submit.ts";
import { bareStarts } from "./submit-floor.ts";

/** A step of an application that starts is over by then. */
const pauseMs = 300;

/** The first applications find a host that has compiled little yet; they are created and not counted. */
const warm = 10;

/** Returns the ms from each answer to the driver's POST, by the applications' names. */
const delaysOf = async (audit: Audit, answered: ReadonlyMap<string, number>): Promise<readonly number[]> => {
  const posts = (await audit.read()).filter(({ verb, resource }) => verb === "create" && resource === "pods");
  return [...answered].map(([name, at]) => {
    const own = posts.filter((post) => post.name === `${name}-driver`);
    const [post] = own;
    if (post === undefined || own.length > 1) throw new Error(`${own.length} POSTs of the driver of ${name}`);
    return post.at - at;
  });
};

/** Throws when work was wrong or missing; slowness is only reported. */
export const benchAlone = async (count: number): Promise<readonly Figure[]> => {
  await ensure(["go"]);
  await build();
  const dir = await mkdtemp(join(tmpdir(), "rekindle-alone-"));
  const audit = await openAudit(dir, "rekindle", "rekindle");
  const cluster = await startCluster({ nodes: 0, dir: join(dir, "cluster"), extra: audit.flags });
  const { api } = cluster;
  try {
    const kubeconfig = await install(cluster, undefined);
    const host = startHost(kubeconfig, join(dir, "host.log"), ["--log-level", "warn"]);
    await sleep(5_000);
    const answered = new Map<string, number>();
    let before = await account(host);
    for (let index = 1; index <= warm + count; index++) {
      if (index === warm + 1) before = await account(host);
      const name = `bench-${index}`;
      const { status, body } = await api.call("POST", applications, application(name));
      if (status !== 201) throw new Error(`${name}: ${JSON.stringify(body)}`);
      if (index > warm) answered.set(name, instant());
      await sleep(pauseMs);
    }
    await sleep(2_000);
    const { cpu } = await account(host);
    const took = await delaysOf(audit, answered);
    if ((await host.stop()) !== 0) throw new Error(`the host did not end well; its log is in ${dir}`);
    const bare = await bareStarts(api, applications, count);
    await rm(dir, { recursive: true, force: true });
    const figure = (name: string, part: number, aim?: number): Figure => ({
      ...{ name: `alone.created-to-driver.${name}`, value: quantile(took, part), unit: "ms" },
      ...{ floor: quantile(bare, part), ...(aim === undefined ? {} : { aim }) },
    });
    return [
      figure("p50", 0.5, 25),
      figure("p95", 0.95),
      { name: "alone.host-cpu-per-application", value: ((cpu - before.cpu) * 1_000) / count, unit: "ms" },
    ];
  } finally {
    await cluster.stop();
  }
};
