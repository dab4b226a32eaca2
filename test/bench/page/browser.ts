/**
 * `npm run bench -- page`: the page of 10,000 applications in a real Chromium, served by the built `rekindle page`; and what
 * viewers cost (`viewers.ts`).
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import type { Browser, Page } from "playwright-core";
import { buildPage } from "../../../infra/page.ts";
import { build } from "../../real/e2e/installed.ts";
import { openBrowser } from "../../real/e2e/page/browser.ts";
import { fill, openCommand, openPageCluster, type PageCluster } from "../../real/e2e/page/fixture.ts";
import { median } from "../../real/lambda/ledger.ts";
import type { Figure } from "../figures.ts";

/** Compressed as a server sends them, in kB. */
export const benchSizes = async (): Promise<readonly Figure[]> => {
  const { script, style, parts } = await buildPage();
  const kbOf = (text: string): number => gzipSync(text, { level: 9 }).length / 1_000;
  const [first, later] = [false, true].map((isLater) =>
    parts.reduce((sum, part) => sum + (part.isLater === isLater ? kbOf(part.text) : 0), 0),
  );
  const [scriptKb, styleKb] = [kbOf(script) + (first ?? 0), kbOf(style)];
  return [
    { name: "page.script", value: scriptKb, unit: "kB", aim: 30 },
    { name: "page.style", value: styleKb, unit: "kB", aim: 5 },
    { name: "page.all", value: scriptKb + (later ?? 0) + styleKb, unit: "kB", aim: 60 },
  ];
};

const row = ".grid .body .row";

/** Milliseconds from the navigation until a screen of rows is there, and the number of rows that the page knows then. */
const firstRows = async (page: Page, url: string): Promise<number> => {
  const began = performance.now();
  await page.goto(url, { waitUntil: "commit" });
  await page.locator(row).nth(5).waitFor();
  return performance.now() - began;
};

const heapOf = async (page: Page): Promise<number> => {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  await session.detach();
  return usedSize / 1_048_576;
};

const applicationsIn = (namespace: string): string =>
  `/apis/sparkoperator.k8s.io/v1beta2/namespaces/${namespace}/sparkapplications`;

/** Changes applications one after the other, about a thousand a second. */
const change = async ({ simulator }: PageCluster, from: number, to: number): Promise<void> => {
  const at = new Date().toISOString();
  for (let nth = from; nth < to; nth += 1) {
    const state = nth % 2 === 0 ? "RUNNING" : "FAILED";
    const status = { applicationState: { state, errorMessage: `change ${nth}` }, lastSubmissionAttemptTime: at };
    const name = `app-${String(nth % 10_000).padStart(5, "0")}`;
    const { status: code } = simulator.handle({
      method: "PATCH",
      path: `${applicationsIn(nth % 2 === 0 ? "team-a" : "team-b")}/${name}/status`,
      headers: { "content-type": "application/merge-patch+json" },
      body: JSON.stringify({ status }),
    });
    if (code >= 300) throw new Error(`the status of ${name} was answered with ${code}`);
    if (nth % 50 === 49) await sleep(50);
  }
};

/** The heap of the tab after rounds of changes: a page that forgets nothing grows from round to round. */
const heaps = async (page: Page, large: PageCluster): Promise<readonly Figure[]> => {
  const before = await heapOf(page);
  const found: number[] = [];
  for (let round = 0; round < 4; round += 1) {
    await change(large, round * 2_500, (round + 1) * 2_500);
    await sleep(2_000);
    found.push(await heapOf(page));
  }
  return [
    { name: "page.heap.10000-rows", value: before, unit: "MiB" },
    { name: "page.heap.after-2500-changes", value: found[0] ?? 0, unit: "MiB" },
    { name: "page.heap.after-10000-changes", value: found[3] ?? 0, unit: "MiB", aim: (found[0] ?? 0) * 1.1 },
  ];
};

/** Loads the page in new contexts, whose caches are empty, with the session of the first one. */
const loads = async (browser: Browser, first: Page, url: string): Promise<readonly number[]> => {
  const state = await first.context().storageState();
  const found: number[] = [];
  for (let nth = 0; nth < 7; nth += 1) {
    const context = await browser.newContext({ storageState: state, viewport: { width: 1_280, height: 800 } });
    found.push(await firstRows(await context.newPage(), url));
    await context.close();
  }
  return found;
};

export const benchBrowser = async (): Promise<readonly Figure[]> => {
  await build();
  const dir = await mkdtemp(join(tmpdir(), "rekindle-bench-page-"));
  const large = await openPageCluster(join(dir, "kubeconfig"));
  fill(large, 10_000);
  const command = openCommand(["page", "--kubeconfig", large.kubeconfig]);
  const browser = await openBrowser();
  try {
    const link = await command.said(/http:\/\/127\.0\.0\.1:\d+\/page\S*#k=[\w-]+/);
    for (const until = performance.now() + 60_000; performance.now() < until; await sleep(100))
      if (large.requests.some((request) => /^WATCH .*\/sparkapplications/.test(request))) break;
    const context = await browser.newContext({ viewport: { width: 1_280, height: 800 } });
    const page = await context.newPage();
    const signedIn = await firstRows(page, link);
    await page.getByText("Live", { exact: true }).waitFor();
    const times = await loads(browser, page, new URL("/page", link).href);
    return [
      { name: "page.first-rows.sign-in", value: signedIn, unit: "ms", aim: 1_000 },
      { name: "page.first-rows.median", value: median(times), unit: "ms", aim: 1_000 },
      { name: "page.first-rows.worst", value: Math.max(...times), unit: "ms", aim: 1_000 },
      ...(await heaps(page, large)),
    ];
  } finally {
    await browser.close();
    await command.stop();
    await large.close();
    await rm(dir, { recursive: true, force: true });
  }
};
