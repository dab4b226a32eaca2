/** The cases of this lane. Their names begin with the number of the page's promise that they hold. */
import { setTimeout as sleep } from "node:timers/promises";
import type { BrowserContextOptions } from "playwright-core";
import { must } from "../scene.ts";
import { byProvider, doors, hostileText, ofOneTeam, statusOf, withoutGroup } from "./access-cases.ts";
import { buttons, refusals } from "./action-cases.ts";
import { evaluated, objections, openTab, signIn, type Tab } from "./browser.ts";
import { hostile, sparkApplication, tokens } from "./fixture.ts";
import { demoPictures, hostPictures, places } from "./picture-cases.ts";
import { keptLogs, logs, members, money, queueGroups, repairs } from "./screen-cases.ts";
import { type Case, type Fixture, onHost, open, screens, watched } from "./tabs.ts";
import { changes, demoAgrees, losses, onFunction, pastDriver, timeline } from "./timeline-cases.ts";
import { demoVerdicts, hostVerdicts } from "./verdict-cases.ts";

const noErrors: Case = {
  name: "1 no screen writes an error into the console or asks another server",
  run: (fixture) =>
    onHost(fixture, async (tab) => {
      for (const screen of screens) {
        await tab.page.goto(`${fixture.host.url}?screen=${screen}`);
        await tab.page.getByRole("heading", { level: 1 }).waitFor();
        await tab.shoot(screen);
      }
      await open(tab, fixture.host.url, watched);
      await tab.page.locator(".lane").first().waitFor();
      await tab.shoot("application");
      return [`${screens.length + 1} screens`];
    }),
};

const accessible: Case = {
  name: "2 axe objects to no screen, light and dark",
  run: async (fixture) => {
    for (const colorScheme of ["light", "dark"] as const)
      await onHost(
        fixture,
        async (tab) => {
          const found: string[] = [];
          for (const screen of screens) {
            await tab.page.goto(`${fixture.host.url}?screen=${screen}`);
            await tab.page.getByText("Live", { exact: true }).waitFor();
            found.push(...(await objections(tab)).map((one) => `${screen}: ${one}`));
          }
          await open(tab, fixture.host.url, watched);
          found.push(...(await objections(tab)).map((one) => `application: ${one}`));
          await tab.shoot(`application-${colorScheme}`);
          await tab.page.keyboard.press("t");
          found.push(...(await objections(tab)).map((one) => `application as table: ${one}`));
          must(found.length === 0, `${colorScheme}: ${found.join("; ")}`);
        },
        { colorScheme },
      );
    return [`${screens.length + 2} screens, both themes`];
  },
};

const focusedId = (tab: Tab): Promise<string> => evaluated(tab, "document.activeElement?.id ?? ''");

const gridOf = (tab: Tab): Promise<{ readonly count: number; readonly active: string; readonly index: number }> =>
  evaluated(
    tab,
    `(() => {
       const grid = document.getElementById("grid");
       const active = grid.getAttribute("aria-activedescendant") ?? "";
       const row = document.getElementById(active);
       return { count: Number(grid.ariaRowCount), active, index: Number(row?.getAttribute("aria-rowindex") ?? 0) };
     })()`,
  );

type Grid = Awaited<ReturnType<typeof gridOf>>;

/** Waits until the list is as a key should have made it: the page draws it with its next frame. */
const gridIs = async (tab: Tab, after: string, holds: (grid: Grid) => boolean): Promise<void> => {
  for (const until = performance.now() + 1_000; ; await sleep(20)) {
    const grid = await gridOf(tab);
    if (holds(grid)) return;
    must(performance.now() < until, `after ${after}: ${JSON.stringify(grid)}`);
  }
};

/** Waits until the element has the focus. */
const focusIs = async (tab: Tab, id: string, message: string): Promise<void> => {
  for (const until = performance.now() + 1_000; (await focusedId(tab)) !== id; await sleep(20))
    must(performance.now() < until, message);
};

/** Opens `rekindle page` by its link, once. */
const openPersonal = async ({ browser, personal, pictures }: Fixture): Promise<{ tab: Tab; link: string }> => {
  const link = await personal.said(/http:\/\/127\.0\.0\.1:\d+\/page\S*#k=[\w-]+/);
  return { link, tab: await openTab(browser, link, pictures) };
};

const count = 10_000;

/** The rounds in which the first rows may come in time: other load on the machine delays them, and nothing makes them early. */
const mostRounds = 3;

/** Returns the time until the sixth row is shown, ms: the least of some rounds without the browser's cache. */
const untilFirstRows = async ({ page }: Tab, link: string): Promise<number> => {
  const session = await page.context().newCDPSession(page);
  await session.send("Network.setCacheDisabled", { cacheDisabled: true });
  const shown = async (load: () => Promise<unknown>): Promise<number> => {
    const began = performance.now();
    await load();
    await page.locator(".grid .body .row").nth(5).waitFor();
    return Math.round(performance.now() - began);
  };
  let least = await shown(() => page.goto(link));
  for (let round = 1; round < mostRounds && least >= 1_000; round++)
    least = Math.min(least, await shown(() => page.reload()));
  return least;
};

/** The link opens one session, so that the cases on 10,000 applications are one. */
const large: Case = {
  name: "3, 7, 10 ten thousand applications: the first rows within 1 s; the list's attributes; the link opens one session",
  run: async (fixture) => {
    const { tab, link } = await openPersonal(fixture);
    try {
      const firstMs = await untilFirstRows(tab, link);
      await tab.shoot("ten-thousand");
      must(firstMs < 1_000, `the first rows came after ${firstMs} ms`);
      const filtered = performance.now();
      await tab.page.keyboard.press("/");
      await tab.page.locator("#filter:focus").waitFor();
      await tab.page.keyboard.type("app-0999");
      await tab.page.keyboard.press("Enter");
      await tab.page.getByText("10 applications,").waitFor();
      const filterMs = Math.round(performance.now() - filtered);
      await tab.page.keyboard.press("/");
      await tab.page.locator("#filter:focus").waitFor();
      await tab.page.keyboard.press("Backspace");
      await tab.page.keyboard.press("Enter");
      await tab.page.getByText("10,000 applications,").waitFor();
      await tab.page.locator("#grid:focus").waitFor();
      await gridIs(tab, "an empty filter", (grid) => grid.count === count + 1);
      await tab.page.keyboard.press("End");
      await gridIs(tab, "End", ({ index, active }) => index === count + 1 && active === `row-${count - 1}`);
      await tab.page.keyboard.press("k");
      await gridIs(tab, "k", ({ index, active }) => index === count && active === `row-${count - 2}`);
      const elements = await evaluated<number>(tab, "document.querySelectorAll('*').length");
      must(elements < 2_000, `${elements} elements for ${count} rows`);
      const again = await openTab(fixture.browser, link, fixture.pictures);
      await again.page.goto(link);
      await again.page.getByText("this link was used already").waitFor();
      await again.close();
      const port = new URL(link).port;
      must((await statusOf(`http://127.0.0.1:${port}/page/rows`, { host: "rebound.example" })) === 403, "another Host");
      const faults = tab.faults();
      must(faults.length === 0, faults.join("; "));
      return [`first rows after ${firstMs} ms, filter typed and shown in ${filterMs} ms, ${elements} elements`];
    } finally {
      await tab.close();
    }
  },
};

const byKeyboard: Case = {
  name: "3 by keyboard alone: list, filter, application, timeline as table, and back to the same row",
  run: (fixture) =>
    onHost(fixture, async (tab) => {
      const { keyboard } = tab.page;
      await tab.page.locator(".grid .body .row").first().waitFor();
      await keyboard.press("/");
      await focusIs(tab, "filter", "/ does not focus the filter");
      await keyboard.press("Control+a");
      await keyboard.type("watched");
      await keyboard.press("Enter");
      await focusIs(tab, "grid", "Enter does not lead from the filter to the list");
      await keyboard.press("j");
      const { active } = await gridOf(tab);
      await keyboard.press("Enter");
      await tab.page.getByRole("heading", { level: 1, name: "watched" }).waitFor();
      await keyboard.press("t");
      await tab.page.getByRole("region", { name: "Timeline as a table" }).waitFor();
      await keyboard.press("Escape");
      await tab.page.locator("#grid").waitFor();
      await focusIs(tab, "grid", "Escape does not lead back to the list");
      must((await gridOf(tab)).active === active, "another row is active after the way back");
      await keyboard.press("g");
      await keyboard.press("o");
      await tab.page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
      await keyboard.press("?");
      await tab.page.getByRole("dialog", { name: "Keys" }).waitFor();
      await keyboard.press("Escape");
      return [`active row ${active}`];
    }),
};

/** Pixels by which the document, or the row of screens in its head, is wider than what is seen of it. */
const overflow = (tab: Tab): Promise<number> =>
  evaluated(
    tab,
    `Math.max(...[document.documentElement, document.querySelector(".top nav")].map(
       ({ scrollWidth, clientWidth }) => scrollWidth - clientWidth))`,
  );

const narrow: Case = {
  name: "12 zoom 200 %, width 768 and forced colours: nothing is cut off sideways, marks stay",
  run: async (fixture) => {
    const views: readonly (readonly [string, BrowserContextOptions])[] = [
      ["zoomed", { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 }],
      ["narrow", { viewport: { width: 768, height: 900 } }],
      ["forced", { forcedColors: "active" }],
    ];
    for (const [name, options] of views)
      await onHost(
        fixture,
        async (tab) => {
          for (const screen of screens) {
            await tab.page.goto(`${fixture.host.url}?screen=${screen}`);
            await tab.page.getByRole("heading", { level: 1 }).waitFor();
            must((await overflow(tab)) <= 0, `${name}: ${screen} is ${await overflow(tab)} px too wide`);
          }
          await open(tab, fixture.host.url, watched);
          must((await overflow(tab)) <= 0, `${name}: application is ${await overflow(tab)} px too wide`);
          await tab.shoot(`application-${name}`);
          await tab.page.goto(fixture.host.url);
          await tab.page.locator(".mark").first().waitFor();
          await tab.shoot(`applications-${name}`);
        },
        options,
      );
    return views.map(([name]) => name);
  },
};

const crowded: Case = {
  name: "6 the fifth tab of a session polls, the others stream, and each of them shows the same",
  run: (fixture) =>
    onHost(fixture, async (tab) => {
      for (let nth = 0; nth < 3; nth += 1) {
        const page = await tab.context.newPage();
        await page.goto(fixture.host.url);
        await page.getByText("Live", { exact: true }).waitFor();
      }
      const fifth = await tab.context.newPage();
      await fifth.goto(fixture.host.url);
      await fifth.getByText("Live, every 2 s").waitFor();
      must((await fifth.getByText("watched").count()) > 0, "the polling tab shows no rows");
      return [];
    }),
};

/**
 * Requests that a host sends by its clock, with and without viewers: its lease, the cluster's identity, other controllers, and
 * the list of its own Workloads, as long as the cluster does not serve them.
 */
const byItsClock =
  /\/leases|\/namespaces\/kube-system$|\/apps\/v1\/deployments\?|\/api\/v1\/pods\?labelSelector=app(\.kubernetes\.io%2Fname)?%3D|\/workloads\?labelSelector=app\.kubernetes\.io%2Fmanaged-by%3D/;

/** The requests that reach the API server in 3 s, without those by the host's clock. */
const requestsWithin = async ({ cluster }: Fixture): Promise<readonly string[]> => {
  const from = cluster.requests.length;
  await sleep(3_000);
  return cluster.requests.slice(from).filter((request) => !byItsClock.test(request));
};

/** Deletes the applications that the host looks at again and again, and waits until it makes no request. */
const calmed = async (fixture: Fixture): Promise<void> => {
  fixture.cluster.remove("team-a", "broken");
  fixture.cluster.remove("team-b", "stuck");
  for (let tries = 0; tries < 10; tries += 1) if ((await requestsWithin(fixture)).length === 0) return;
  throw new Error("the host does not come to rest");
};

const session = async (url: string): Promise<string> => {
  const headers = { authorization: `Bearer ${tokens.operator}` };
  const answer = await fetch(`${url}/session`, { method: "POST", headers });
  return answer.headers.get("set-cookie")?.split(";")[0] ?? "";
};

/** Opens streams of rows. Returns what closes them. */
const openRows = async (url: string, count: number): Promise<() => void> => {
  const stop = new AbortController();
  const streams = await Promise.all(
    Array.from({ length: count }, async () => {
      const headers = { cookie: await session(url) };
      await (await fetch(`${url}/rows`, { headers })).arrayBuffer();
      return await fetch(`${url}/stream`, { headers, signal: stop.signal });
    }),
  );
  must(
    streams.every(({ status }) => status === 200),
    "a stream was refused",
  );
  return () => stop.abort();
};

/**
 * A timer of an application or of a queue may come within one of two windows: so often they are compared. With requests
 * for each viewer no two windows are equal.
 */
const mostPairs = 12;

const viewers: Case = {
  name: "8 fifty viewers cost the API server as many requests as one",
  run: (fixture) =>
    onHost(fixture, async () => {
      await calmed(fixture);
      const found: string[] = [];
      for (let pairs = 0; pairs < mostPairs; pairs += 1) {
        const alone = await requestsWithin(fixture);
        const close = await openRows(fixture.host.url, 49);
        const together = await requestsWithin(fixture);
        close();
        const counts = `${alone.length} with one, ${together.length} with 50`;
        if (together.length === alone.length) return [counts];
        found.push(`${counts}: ${[...alone, "and", ...together].slice(0, 12).join("; ")}`);
      }
      throw new Error(found.join("\n"));
    }),
};

const restart: Case = {
  name: "5 the host is killed: the page says behind within 20 s, comes back without reload, and equals a fresh one",
  run: async (fixture) => {
    const { browser, host, pictures, cluster } = fixture;
    const tab = await openTab(browser, host.url, pictures);
    try {
      await signIn(tab, host.url, tokens.operator);
      await tab.page.evaluate("window.isTheSame = true");
      const began = performance.now();
      await host.kill();
      await tab.page.locator(".live.behind").waitFor({ timeout: 20_000 });
      const behindMs = Math.round(performance.now() - began);
      await tab.shoot("behind");
      cluster.submit(sparkApplication("team-a", "newcomer", 1));
      await host.revive();
      await tab.page.getByText("Live", { exact: true }).waitFor({ timeout: 30_000 });
      await tab.page.getByText("newcomer").first().waitFor();
      must((await tab.page.evaluate("window.isTheSame")) === true, "the page was loaded anew");
      await tab.page.locator(".row.running", { hasText: "newcomer" }).waitFor({ timeout: 15_000 });
      const fresh = await tab.context.newPage();
      await fresh.goto(host.url);
      await fresh.getByText("newcomer").first().waitFor();
      const names = async (page: typeof fresh): Promise<string> =>
        (await page.locator(".grid .body .row .name").allTextContents()).sort().join(" ");
      must((await names(tab.page)) === (await names(fresh)), `${await names(tab.page)} ≠ ${await names(fresh)}`);
      return [`behind after ${behindMs} ms`];
    } finally {
      await tab.close();
    }
  },
};

/** In this order: the host is killed last. */
export const cases: readonly Case[] = [
  ...[
    noErrors,
    accessible,
    members,
    logs,
    keptLogs,
    money,
    repairs,
    queueGroups,
    byKeyboard,
    losses,
    onFunction,
    timeline,
    pastDriver,
    changes,
    hostileText,
    doors,
    buttons,
    refusals,
    ofOneTeam,
    byProvider,
    withoutGroup,
    narrow,
    crowded,
  ],
  ...[hostVerdicts, hostPictures, viewers, demoAgrees, demoVerdicts, demoPictures, places, large, restart],
];

/** The applications of the host's cluster. */
export const applications = [
  sparkApplication("team-a", "watched", 4),
  sparkApplication("team-a", "broken", 2),
  sparkApplication("team-b", "stuck", 2),
  sparkApplication("team-b", "hostile", 1, hostile),
  sparkApplication("team-b", "geo", 1),
] as const;
