/** The cases that compare what page, `status`, `list -o json` and record say of every application, in the demo and on a host. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Batch, keyOf, type Row, rowsOf } from "../../../../shared/page/wire.ts";
import { rekindle } from "../installed.ts";
import { must } from "../scene.ts";
import { evaluated, openTab, type Tab } from "./browser.ts";
import { sparkApplication } from "./fixture.ts";
import { type Case, type Fixture, onHost, open } from "./tabs.ts";
import { detailIn, disagreements, listedIn, recordsIn, statusOf, type Verdict } from "./verdicts.ts";

const pods = (name: string, replicas: number, shell: string, cpu: string) => ({
  ...{ name, replicas },
  template: {
    spec: {
      restartPolicy: "Never",
      containers: [
        { name: "main", image: "busybox:1.37", command: ["sh", "-c", shell], resources: { requests: { cpu } } },
      ],
    },
  },
});

const job = (name: string, spec: object) => ({
  apiVersion: "batch.volcano.sh/v1alpha1",
  kind: "Job",
  metadata: { name, namespace: "default" },
  spec: { minAvailable: 1, queue: "default", ...spec },
});

const application = (name: string, instances: number, memory = "512m") => {
  const { spec, ...rest } = sparkApplication("default", name, instances);
  return { ...rest, spec: { ...spec, driver: { ...spec.driver, memory } } };
};

/** What a user tries on the demo: clean runs, a driver that fits on no node, jobs that run, fail and wait, and their queue. */
const tried = [
  ...["clean-1", "clean-2", "clean-3"].map((name) => application(name, 2)),
  application("bigmem", 1, "2000g"),
  {
    apiVersion: "scheduling.volcano.sh/v1beta1",
    kind: "Queue",
    metadata: { name: "ml" },
    spec: { weight: 1, capability: { cpu: "2" } },
  },
  job("flaky", {
    maxRetry: 2,
    policies: [{ event: "PodFailed", action: "RestartJob" }],
    tasks: [pods("w", 1, "exit 1", "100m")],
  }),
  job("train", { minAvailable: 3, queue: "ml", tasks: [pods("w", 3, "sleep 600", "500m")] }),
  job("huge", { minAvailable: 8, queue: "ml", tasks: [pods("w", 8, "sleep 600", "1")] }),
] as const;

/** Creates them, as soon as the demo serves its cluster. */
export const tryOut = async (kubeconfig: string, dir: string): Promise<void> => {
  const file = join(dir, "tried.json");
  await writeFile(file, JSON.stringify({ apiVersion: "v1", kind: "List", items: tried }));
  await rekindle(["create", "-f", file, "--kubeconfig", kubeconfig]);
};

const rowsIn = async (tab: Tab): Promise<readonly Row[]> =>
  rowsOf((await evaluated<Batch>(tab, 'fetch("/page/rows").then((answer) => answer.json())')).columns);

const hoursIn = (text: string): number => Number(/([\d.]+) core-h/.exec(text)?.[1] ?? 0);

/** The receipt on the screen of an application. */
const receiptOn = async (tab: Tab): Promise<Verdict["receipt"]> => {
  const receipt = tab.page.getByRole("region", { name: "Receipt" });
  if ((await receipt.count()) === 0) return undefined;
  const parts = await receipt.locator("dl div").allTextContents();
  const wasted = parts.filter((text) => /failed attempts|lost executors/.test(text)).map(hoursIn);
  return {
    all: hoursIn((await receipt.locator("header").textContent()) ?? ""),
    lost: wasted.reduce((sum, one) => sum + one, 0),
  };
};

type Place = { readonly tab: Tab; readonly url: string; readonly kubeconfig: string };

const serverOf = async (kubeconfig: string): Promise<string> =>
  /\bserver"?: *"?([^"\s,]+)/.exec(await readFile(kubeconfig, "utf8"))?.[1] ?? "";

const verdictOn = async ({ tab, url, kubeconfig }: Place, row: Row): Promise<Verdict> => {
  const key = keyOf(row);
  await open(tab, url, key);
  await tab.page.locator(".pill").waitFor();
  const path = `${await serverOf(kubeconfig)}/apis/rekindle.dev/v1alpha1/namespaces/${row.namespace}/checkpoints`;
  const [detail, status, all, kept] = await Promise.all([
    evaluated(tab, `fetch("/page/app/${key}").then((answer) => answer.json())`),
    statusOf(kubeconfig, key),
    listedIn(kubeconfig),
    fetch(path).then((answer) => answer.json()),
  ]);
  const now = (await rowsIn(tab)).find((one) => keyOf(one) === key);
  const listed = all.find((one) => keyOf(one) === key);
  const record = recordsIn(kept).get(`${row.kind.toLowerCase()}/${row.name}`);
  if (now === undefined || listed === undefined || record === undefined) throw new Error(`${key} is not everywhere`);
  return { row: now, detail: detailIn(detail), status, listed, record, receipt: await receiptOn(tab) };
};

const mostTries = 6;

/** Compares an application, again while it changes between two reads. Returns its verdict. */
const compared = async (place: Place, row: Row): Promise<Verdict> => {
  for (let tries = 1; ; tries += 1) {
    const verdict = await verdictOn(place, row);
    const found = disagreements(verdict);
    if (found.length === 0) return verdict;
    must(tries < mostTries, `${keyOf(row)}: ${found.join("; ")}`);
    await sleep(700);
  }
};

/** Copies of a verdict in each of which one display says something else. */
const copies = (one: Verdict): readonly (readonly [string, Verdict])[] => {
  const { row, detail, status, listed, record, receipt } = one;
  const words = record.memory.executors?.lifetimes ?? [];
  const [first, ...rest] = detail.lanes.filter(
    ({ role, id }) => role === "executor" && words.some(([of]) => of === id),
  );
  const copied: (readonly [string, Verdict])[] = [
    ["another state on the page", { ...one, row: { ...row, state: "ANOTHER" } }],
    ["another group on its screen", { ...one, detail: { ...detail, group: "another" } }],
    ["another state in status", { ...one, status: { ...status, state: "ANOTHER" } }],
    ["another reason", { ...one, listed: { ...listed, message: "another" } }],
    ["one lost more", { ...one, detail: { ...detail, lost: detail.lost + 1 } }],
  ];
  if (first !== undefined) {
    const lanes = [{ ...first, lost: first.lost !== true }, ...rest];
    copied.push(["an executor's end judged otherwise", { ...one, detail: { ...detail, lanes } }]);
  }
  if (receipt !== undefined && listed.usage !== undefined)
    copied.push(
      ["another loss on the receipt", { ...one, receipt: { ...receipt, lost: receipt.lost + receipt.all + 0.01 } }],
      ["a smaller sum on the receipt", { ...one, receipt: { ...receipt, all: listed.usage.all.cores / 2 - 0.01 } }],
    );
  return copied;
};

const numberBefore = (text: string, word: string): number =>
  Number(new RegExp(`([\\d,]+)(?: applications?)? ${word}`).exec(text)?.[1]?.replaceAll(",", "") ?? -1);

/** The counts of Overview, of the list's chips, and of the rows. */
const judgeCounts = async ({ tab, url }: Place): Promise<string> => {
  await tab.page.goto(`${url}?screen=overview`);
  await tab.page.getByText(/applications? running/).waitFor();
  const summary = (await tab.page.locator(".title p").textContent()) ?? "";
  await tab.page.goto(`${url}?screen=applications`);
  await tab.page.locator(".row").nth(1).waitFor();
  const rows = (await rowsIn(tab)).filter(({ kind }) => kind !== "CronJob" && kind !== "ScheduledSparkApplication");
  for (const group of ["running", "waiting", "failed"] as const) {
    const count = rows.filter((row) => row.group === group).length;
    const chip = Number(
      await tab.page
        .getByRole("button", { name: new RegExp(`^${group} \\d`, "i") })
        .locator("b")
        .textContent(),
    );
    const told = numberBefore(summary, group);
    must(chip === count && told === count, `${group}: rows ${count}, list ${chip}, overview ${told} (${summary})`);
  }
  return summary;
};

const judged = async (place: Place, isJudged: (row: Row) => boolean): Promise<readonly string[]> => {
  const rows = (await rowsIn(place.tab)).filter((row) => isJudged(row));
  for (const row of rows) {
    const verdict = await compared(place, row);
    for (const [what, copy] of copies(verdict))
      must(disagreements(copy).length > 0, `${keyOf(row)}: ${what} is not found out`);
  }
  must(rows.length > 0, "there is no application to compare");
  return [`${rows.length} applications`, await judgeCounts(place)];
};

const isOver = ({ group }: Row): boolean => group === "failed" || group === "completed";

/** Waits until what a user tried has come to its end, or to its wait. */
const untilSettled = async (tab: Tab): Promise<readonly Row[]> => {
  const isDone = (rows: readonly Row[]): boolean =>
    ["clean-1", "clean-2", "clean-3", "spark-pi", "flaky"].every((name) =>
      rows.some((row) => row.name === name && isOver(row)),
    ) &&
    rows.some(({ name, group }) => name === "train" && group === "running") &&
    // Its record takes the reason in with the first look after its submission.
    rows.some(({ name, group }) => name === "bigmem" && group === "waiting");
  for (const until = performance.now() + 60_000; performance.now() < until; await sleep(500)) {
    const rows = await rowsIn(tab);
    if (isDone(rows)) return rows;
  }
  throw new Error(`what was tried on the demo has not settled: ${JSON.stringify(await rowsIn(tab))}`);
};

const textOf = (rows: readonly Row[], name: string): string => rows.find((row) => row.name === name)?.waits ?? "";

export const demoVerdicts: Case = {
  name: "14 in the demo, page, status, list and record agree on every application: its state, its reasons, what was lost, what it used",
  run: async ({ browser, demo, demoConfig, pictures }) => {
    const url = await demo.said(/http:\/\/127\.0\.0\.1:\d+\/page/);
    const tab = await openTab(browser, url, pictures);
    try {
      await tab.page.goto(url);
      const rows = await untilSettled(tab);
      must(/^pod flaky-w-0 failed \(exit 1\).*2 of 2 retries used$/.test(textOf(rows, "flaky")), textOf(rows, "flaky"));
      const lines = await judged({ tab, url, kubeconfig: demoConfig }, () => true);
      await tab.page.goto(`${url}?screen=queues`);
      const queue = tab.page.getByRole("row", { name: /^ml Open/ });
      await queue.waitFor();
      const shown = (await queue.textContent()) ?? "";
      must(/1500m \/ 2/.test(shown), `the queue of the running job shows ${shown}`);
      const faults = tab.faults();
      must(faults.length === 0, faults.join("; "));
      return [...lines, textOf(rows, "flaky"), shown];
    } finally {
      await tab.close();
    }
  },
};

const onEach = async (fixture: Fixture, at: string): Promise<readonly string[]> =>
  onHost(
    fixture,
    (tab) =>
      judged(
        { tab, url: at, kubeconfig: fixture.cluster.kubeconfig },
        ({ kind, name }) => kind === "SparkApplication" && ["watched", "stuck", "hostile"].includes(name),
      ),
    { at },
  );

export const hostVerdicts: Case = {
  name: "14 on a host, and on the api function, page, status, list and record agree on running and waiting applications",
  run: async (fixture) => [
    ...(await onEach(fixture, fixture.host.url)),
    ...(await onEach(fixture, fixture.served.url)),
  ],
};
