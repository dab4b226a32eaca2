/** The cases of the timeline, on the host and in the demo, and the picture of the README. */
import { setTimeout as sleep } from "node:timers/promises";
import { must } from "../scene.ts";
import { evaluated, openTab, type Tab } from "./browser.ts";
import { sparkApplication } from "./fixture.ts";
import { differences, type PodRow, type WaitRow, waitDifferences } from "./oracle.ts";
import { type Case, type Fixture, onHost, open, watched } from "./tabs.ts";

const lostMarks = (tab: Tab): Promise<number> => tab.page.locator(".lost-mark").count();

const runningExecutor = ({ oracle }: Fixture): string => {
  const [row] = oracle.rows("watched").filter(({ pod, up, end }) => pod.includes("-exec-") && up !== "" && end === "");
  must(row !== undefined, "no executor of team-a/watched runs");
  return row?.pod ?? "";
};

/** Kills an executor of the watched application; returns the time until its lane is marked, ms. */
const killed = async (tab: Tab, fixture: Fixture): Promise<number> => {
  const before = await lostMarks(tab);
  const victim = runningExecutor(fixture);
  const began = performance.now();
  fixture.cluster.simulator.killPod("team-a", victim, { code: 137, reason: "OOMKilled" });
  // A locator that waits would look only every 500 ms.
  for (const until = began + 10_000; (await lostMarks(tab)) <= before; await sleep(10))
    must(performance.now() < until, `the lane of ${victim} is not marked after 10 s`);
  return Math.round(performance.now() - began);
};

export const losses: Case = {
  name: "4 the lane of a killed executor is marked within 1 s, and its successor goes on in it",
  run: (fixture) =>
    onHost(fixture, async (tab) => {
      await open(tab, fixture.host.url, watched);
      const delays: number[] = [];
      for (const nth of [1, 2, 3]) {
        delays.push(await killed(tab, fixture));
        await tab.page
          .locator(".then", { hasText: /^→ \d+$/ })
          .nth(nth - 1)
          .waitFor({ state: "attached", timeout: 10_000 });
      }
      await tab.shoot("losses");
      must(Math.max(...delays) < 1_000, `marked after ${delays.join(", ")} ms`);
      return [`marked after ${delays.join(", ")} ms`];
    }),
};

/** The time between two polls of an open application, ms. */
const pollMs = 2_000;

export const onFunction: Case = {
  name: "4 on the api function the lane of a killed executor is marked within a poll and 1 s; the page polls, and its list is live",
  run: (fixture) =>
    onHost(
      fixture,
      async (tab) => {
        const { url } = fixture.served;
        await open(tab, url, watched);
        await tab.page.getByText("Live, every 2 s").waitFor();
        const delays = [await killed(tab, fixture), await killed(tab, fixture)];
        must(Math.max(...delays) < pollMs + 1_000, `marked after ${delays.join(", ")} ms`);
        await tab.page.goto(url);
        fixture.cluster.submit(sparkApplication("team-a", "polled", 1));
        await tab.page.locator(".row.running", { hasText: "polled" }).waitFor({ timeout: 15_000 });
        fixture.cluster.remove("team-a", "polled");
        await tab.page.locator(".row", { hasText: "polled" }).waitFor({ state: "detached", timeout: 15_000 });
        await tab.shoot("function");
        return [`marked after ${delays.join(", ")} ms`];
      },
      { at: fixture.served.url },
    ),
};

const shownRows = (tab: Tab): Promise<readonly PodRow[]> =>
  evaluated(
    tab,
    `[...document.querySelectorAll('[aria-label="Timeline as a table"] tbody tr')].map((row) => {
       const [pod, , , up, end, , node] = [...row.cells].map((cell) => cell.textContent);
       return { pod, up, end, node };
     })`,
  );

/** The past waits in the table; the page shows times of day in UTC. */
const shownWaits = async (tab: Tab): Promise<readonly WaitRow[]> => {
  const rows: readonly (readonly string[])[] = await evaluated(
    tab,
    `[...document.querySelectorAll('[aria-label="Waits"] tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))`,
  );
  const day = new Date().toISOString().slice(0, 10);
  const secondOf = (time: string): number => Date.parse(`${day}T${time}Z`) / 1_000;
  return rows.flatMap(([reason = "", from = "", to = ""]) =>
    to === "now" ? [] : [{ reason, from: secondOf(from), to: secondOf(to) }],
  );
};

/** Judges the past waits in the table of an open timeline, and copies that are wrong. */
const judgeWaits = async (tab: Tab, { oracle }: Fixture, name: string): Promise<string> => {
  const [shown, saved] = [await shownWaits(tab), oracle.waits(name)];
  const found = waitDifferences(shown, saved);
  must(found.length === 0, found.join("; "));
  const moved = shown.map((wait) => ({ ...wait, to: wait.to + 60 }));
  must(shown.length === 0 || waitDifferences(moved, saved).length > 0, "a copy with other ends is not found out");
  const invented = { reason: "nothing", from: 0, to: 9 };
  must(waitDifferences([...shown, invented], saved).length > 0, "an invented wait is not found out");
  return `${shown.length} past waits`;
};

const shownSuccessors = (tab: Tab): Promise<readonly (readonly [string, string])[]> =>
  evaluated(
    tab,
    `[...document.querySelectorAll('[aria-label="Losses"] tbody tr')].map((row) =>
       [row.cells[0].querySelector("b").textContent, row.cells[3].textContent])`,
  );

const idOf = (pod: string): string => /-exec-(\d+)$/.exec(pod)?.[1] ?? "";

const pairs = (given: Iterable<readonly [string, string]>): string =>
  [...given]
    .map(([lost, next]) => `${lost}>${next}`)
    .sort()
    .join(" ");

/** Kills executors until at least two have successors, so that exchanged successors differ from the right ones. */
const loseTwo = async (fixture: Fixture): Promise<void> => {
  const successors = (): number => [...fixture.oracle.successors("watched")].length;
  while (successors() < 2) {
    const before = successors();
    fixture.cluster.simulator.killPod("team-a", runningExecutor(fixture), { code: 137, reason: "OOMKilled" });
    for (const until = performance.now() + 10_000; successors() === before; await sleep(50))
      must(performance.now() < until, "no executor came in place of the killed one");
  }
};

export const timeline: Case = {
  name: "13 the timeline equals pods and saved waits of the API server, with each successor; a copy with others is found out",
  run: (fixture) =>
    onHost(fixture, async (tab) => {
      await loseTwo(fixture);
      await open(tab, fixture.host.url, watched);
      await tab.page.keyboard.press("t");
      await tab.page.getByRole("region", { name: "Timeline as a table" }).waitFor();
      const successors = [...fixture.oracle.successors("watched")].map(([a, b]) => [idOf(a), idOf(b)] as const);
      const isShown = async (): Promise<boolean> => pairs(await shownSuccessors(tab)) === pairs(successors);
      for (const until = performance.now() + 5_000; !(await isShown()) && performance.now() < until; ) await sleep(50);
      const expected = fixture.oracle.rows("watched");
      const shown = await shownRows(tab);
      const found = differences(shown, expected);
      must(found.length === 0, found.join("; "));
      const told = await shownSuccessors(tab);
      must(told.length > 0 && pairs(told) === pairs(successors), `shown ${pairs(told)}, are ${pairs(successors)}`);
      const wrong = told.map(([lost], at) => [lost, told[(at + 1) % told.length]?.[1] ?? ""] as const);
      must(told.length > 1 && pairs(wrong) !== pairs(successors), "a copy with exchanged successors is not found out");
      const moved = shown.map((row, at) => (at === 1 ? { ...row, end: "00:00:00" } : row));
      must(differences(moved, expected).length > 0, "a copy with another end is not found out");
      return [`${shown.length} pods, successors ${pairs(told)}, ${await judgeWaits(tab, fixture, "watched")}`];
    }),
};

const retried = { type: "OnFailure", onFailureRetries: 1, onFailureRetryInterval: 4 };

/** Waits until something holds of the application's driver, and returns its row. */
const driverOf = async ({ oracle }: Fixture, name: string, holds: (row: PodRow) => boolean): Promise<PodRow> => {
  for (const until = performance.now() + 20_000; performance.now() < until; await sleep(50)) {
    const row = oracle.rows(name).find(({ pod }) => pod.endsWith("-driver"));
    if (row !== undefined && holds(row)) return row;
  }
  throw new Error(`the driver of ${name} is not as it should be after 20 s`);
};

export const pastDriver: Case = {
  name: "13 a page that has seen no pod shows node and end of a failed driver whose pod is gone, and the wait after it",
  run: (fixture) =>
    onHost(
      fixture,
      async (tab) => {
        const plain = sparkApplication("team-a", "again", 1);
        fixture.cluster.submit({ ...plain, spec: { ...plain.spec, restartPolicy: retried } });
        const first = await driverOf(fixture, "again", ({ up }) => up !== "");
        await sleep(1_500);
        fixture.cluster.simulator.killPod("team-a", first.pod, { code: 1, reason: "Error" });
        await driverOf(fixture, "again", ({ up, end }) => end === "" && up !== "" && up !== first.up);
        await open(tab, fixture.served.url, "SparkApplication/team-a/again");
        await tab.page.keyboard.press("t");
        await tab.page.getByText("driver of attempt 1").waitFor({ timeout: 10_000 });
        await tab.shoot("past-driver");
        const shown = (await shownRows(tab)).find(({ pod }) => pod === "driver of attempt 1");
        must(
          first.node !== "" && shown?.node === first.node,
          `its node is ${first.node}, the page shows ${shown?.node}`,
        );
        must(shown?.end !== "", "the page shows no end of the first driver");
        const waits = await judgeWaits(tab, fixture, "again");
        must(!waits.startsWith("0 "), "no past wait is shown");
        fixture.cluster.remove("team-a", "again");
        return [`on ${first.node} until ${shown?.end}`, waits];
      },
      { at: fixture.served.url },
    ),
};

export const changes: Case = {
  name: "2 the tab Changes shows what a user changed between attempts, and no text that may be a secret",
  run: (fixture) =>
    onHost(fixture, async (tab) => {
      const { cluster, host } = fixture;
      cluster.submit(sparkApplication("team-a", "changed", 1));
      const first = await driverOf(fixture, "changed", ({ up }) => up !== "");
      cluster.change("team-a", "changed", { driver: { memory: "1g" }, arguments: ["a-secret"] });
      await driverOf(fixture, "changed", ({ up, end }) => end === "" && up !== "" && up !== first.up);
      await open(tab, host.url, "SparkApplication/team-a/changed");
      await tab.page.getByRole("tab", { name: /^Changes 1/ }).click();
      const table = tab.page.getByRole("group", { name: "Changes" });
      await table.getByRole("row", { name: /attempt 2.*driver\.memory.*512m.*1g|driver\.memory.*512m.*1g/ }).waitFor();
      await table.getByText("arguments[0]").waitFor();
      await tab.shoot("changes");
      const text = (await table.textContent()) ?? "";
      must(!text.includes("a-secret"), "the page shows a text of the arguments as changed");
      must(/attempt 2/.test(text), `no attempt is named: ${text}`);
      cluster.remove("team-a", "changed");
      return [text.replaceAll(/\s+/g, " ").slice(0, 120)];
    }),
};

export const demoAgrees: Case = {
  name: "the demo's page tells what its terminal tells: the killed executor, its successor, the end",
  run: async ({ browser, demo, pictures }) => {
    const link = await demo.said(/http:\/\/127\.0\.0\.1:\d+\/page/);
    await demo.said(/Pi is roughly/);
    const [, lost = ""] = /the process of executor (\d+)/.exec(demo.output()) ?? [];
    const tab = await openTab(browser, link, pictures);
    try {
      await open(tab, link, "SparkApplication/default/spark-pi");
      await tab.page.locator(".pill.completed").waitFor();
      const [[id = "", next = ""] = []] = await shownSuccessors(tab);
      await tab.shoot("demo");
      must(lost !== "" && id === lost, `the terminal says executor ${lost} was killed, the page ${id}`);
      must(/^\d+$/.test(next) && next !== lost, `the page shows no successor of executor ${lost}: ${next}`);
      must(new RegExp(`spark-pi\\S*-exec-${next}\\b|executor ${next}\\b`).test(demo.output()), `executor ${next}`);
      const faults = tab.faults();
      must(faults.length === 0, faults.join("; "));
      return [`executor ${id}, then ${next}`];
    } finally {
      await tab.close();
    }
  },
};

const mostBytes = 120_000;

/** Takes the README's picture: the demo's application after its end. */
export const pictureFor = (file: string): Case => ({
  name: `the picture of the demo's application, at most ${mostBytes} bytes`,
  run: async ({ browser, demo, pictures }) => {
    const link = await demo.said(/http:\/\/127\.0\.0\.1:\d+\/page/);
    await demo.said(/Pi is roughly/);
    const tab = await openTab(browser, link, pictures, { viewport: { width: 1_280, height: 620 } });
    try {
      await open(tab, link, "SparkApplication/default/spark-pi");
      await tab.page.locator(".pill.completed").waitFor();
      const { length } = await tab.page.screenshot({ path: file });
      must(length <= mostBytes, `${file} has ${length} bytes`);
      return [`${file}: ${length} bytes`];
    } finally {
      await tab.close();
    }
  },
});
