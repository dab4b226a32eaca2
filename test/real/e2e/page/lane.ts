/**
 * `npm run e2e -- --page`: the page in a real Chromium, served by the built host and the built command line on simulated
 * clusters, and by the demo.
 */
import { mkdir, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { attempt, type Result } from "../../../support/attempt.ts";
import { openBrowser } from "./browser.ts";
import { applications, cases } from "./cases.ts";
import { fill, openCommand, openPageCluster, openPageFunction, openPageHost, type PageCluster } from "./fixture.ts";
import { openOracle, type PodOracle } from "./oracle.ts";
import type { Fixture } from "./tabs.ts";
import { pictureFor } from "./timeline-cases.ts";
import { tryOut } from "./verdict-cases.ts";

/** Waits until the executors of the watched application run. */
const untilUp = async ({ rows }: PodOracle): Promise<void> => {
  for (const until = performance.now() + 30_000; performance.now() < until; await sleep(100))
    if (rows("watched").filter(({ pod, up }) => pod.includes("-exec-") && up !== "").length === 4) return;
  throw new Error("team-a/watched has not got its executors within 30 s");
};

/** Waits until `rekindle page` has listed the applications: it watches them from then on. */
const untilListed = async ({ requests }: PageCluster): Promise<void> => {
  for (const until = performance.now() + 30_000; performance.now() < until; await sleep(100))
    if (requests.some((request) => /^WATCH .*\/sparkapplications/.test(request))) return;
  throw new Error("rekindle page has not listed 10,000 applications within 30 s");
};

const withFixture = async (dir: string, work: (fixture: Fixture) => Promise<void>): Promise<void> => {
  const pictures = join(dir, "pictures");
  await mkdir(pictures);
  const closing: (() => Promise<unknown>)[] = [];
  try {
    const demoConfig = join(dir, "demo");
    const demo = openCommand(["demo", "--serve", "--kubeconfig", demoConfig]);
    closing.push(demo.stop);
    const cluster = await openPageCluster(join(dir, "kubeconfig"));
    closing.push(cluster.close);
    const oracle = openOracle(cluster.simulator);
    for (const application of applications) cluster.submit(application);
    cluster.addVolcano();
    const host = await openPageHost(cluster, dir);
    closing.push(host.stop);
    const served = await openPageFunction(cluster);
    closing.push(served.stop);
    const large = await openPageCluster(join(dir, "large"));
    closing.push(large.close);
    fill(large, 10_000);
    const personal = openCommand(["page", "--kubeconfig", large.kubeconfig]);
    closing.push(personal.stop);
    const browser = await openBrowser();
    closing.push(() => browser.close());
    await demo.said(/the functions are deployed/);
    await tryOut(demoConfig, dir);
    await untilUp(oracle);
    await untilListed(large);
    await work({ browser, pictures, cluster, host, served, oracle, large, personal, demo, demoConfig });
  } finally {
    for (const close of closing.reverse()) await close();
  }
};

type Wanted = {
  readonly only: string | undefined;
  /** A file for the README's picture, which is taken instead of running cases. */
  readonly picture: string | undefined;
};

/** Runs the cases one after the other. The pictures stay. */
export const pageLane = async ({ only, picture }: Wanted): Promise<readonly Result[]> => {
  const dir = await mkdtemp(join(tmpdir(), "rekindle-e2e-page-"));
  console.log(`pictures: ${join(dir, "pictures")}`);
  const chosen = picture === undefined ? cases.filter(({ name }) => name.includes(only ?? "")) : [pictureFor(picture)];
  const results: Result[] = [];
  await withFixture(dir, async (fixture) => {
    for (const { name, run } of chosen) results.push(await attempt(name, () => run(fixture)));
  });
  return results;
};
