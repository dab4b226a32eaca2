/** Pictures of every screen at two widths, light and dark, with facts of their layout: nothing overflows, breaks or is cut. */
import type { BrowserContextOptions } from "playwright-core";
import { must } from "../scene.ts";
import { evaluated, openTab, type Tab } from "./browser.ts";
import { type Case, type Fixture, onHost, screens } from "./tabs.ts";

type View = readonly [name: string, options: BrowserContextOptions];

const sizes: readonly View[] = [
  ["wide", { viewport: { width: 1_440, height: 900 } }],
  ["phone", { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }],
];

const views: readonly View[] = sizes.flatMap(([name, options]) =>
  (["light", "dark"] as const).map((colorScheme): View => [`${name}-${colorScheme}`, { ...options, colorScheme }]),
);

/**
 * What is wrong with the layout of the present screen, as an expression for the browser. A cell may be cut off only where it
 * shows an ellipsis and has its whole text as a title. Longer words than 32 characters may break: none fits on a phone.
 */
const flaws = `(() => {
  const found = [];
  const shown = (element) => element.getClientRects().length > 0;
  const name = (element) => (element.textContent ?? "").trim().slice(0, 40);
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth) found.push("the document is " + (scrollWidth - clientWidth) + " px too wide");
  for (const box of document.querySelectorAll(".scroll:not(.graph), .panel > header, .wait"))
    if (shown(box) && box.scrollWidth > box.clientWidth + 1)
      found.push("cut at its side: " + (box.getAttribute("aria-label") ?? name(box)));
  for (const cell of document.querySelectorAll("td, th, .grid .body [role=gridcell], .grid .head [role=columnheader], dd, .title p"))
    if (shown(cell) && cell.scrollWidth > cell.clientWidth + 1) {
      const { overflow, textOverflow } = getComputedStyle(cell);
      const isTold = (cell.getAttribute("title") ?? cell.querySelector("[title]")?.getAttribute("title") ?? "") !== "";
      if (!overflow.startsWith("hidden") || textOverflow !== "ellipsis" || !isTold) found.push("clipped: " + name(cell));
    }
  const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    if (node.parentElement?.closest("pre, code, svg, .grid, h1") != null || !shown(node.parentElement)) continue;
    for (const { 0: word, index } of node.data.matchAll(/[\\p{L}\\p{N}_.]{2,32}/gu)) {
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const tops = new Set([...range.getClientRects()].filter(({ width }) => width > 0).map(({ top }) => Math.round(top)));
      if (tops.size > 1) found.push("broken within a word: " + word + " in " + name(node.parentElement));
    }
  }
  return [...new Set(found)];
})()`;

/** Takes a picture of the present screen, and returns what is wrong with it. */
const taken = async (tab: Tab, name: string): Promise<readonly string[]> => {
  await tab.shoot(`screens/${name}`);
  return (await evaluated<readonly string[]>(tab, flaws)).map((flaw) => `${name}: ${flaw}`);
};

const screensOf = async (tab: Tab, url: string, name: string): Promise<readonly string[]> => {
  const found: string[] = [];
  for (const screen of screens) {
    await tab.page.goto(`${url}?screen=${screen}`);
    await tab.page.locator('[class="live live"], [class="live polling"]').waitFor();
    await tab.page.getByRole("heading", { level: 1 }).waitFor();
    if (screen === "applications") await tab.page.locator(".row .mark").first().waitFor();
    found.push(...(await taken(tab, `${name}-${screen}`)));
  }
  return found;
};

const applicationsOf = async (
  tab: Tab,
  url: string,
  name: string,
  keys: readonly string[],
): Promise<readonly string[]> => {
  const found: string[] = [];
  for (const key of keys) {
    await tab.page.goto(`${url}?screen=application&application=${encodeURIComponent(key)}`);
    await tab.page.locator(".pill").waitFor();
    await tab.page.getByText("Reading the log …").waitFor({ state: "detached" });
    found.push(...(await taken(tab, `${name}-${key.split("/").join("-")}`)));
  }
  return found;
};

const ofDemo = [
  "SparkApplication/default/spark-pi",
  "SparkApplication/default/bigmem",
  "Job/default/flaky",
  "Job/default/huge",
];
const ofHost = [
  "SparkApplication/team-a/watched",
  "SparkApplication/team-a/broken",
  "Job/team-a/gang",
  "JobFlow/team-a/nightly",
];

const inDemo = async ({ browser, demo, pictures }: Fixture, [view, options]: View): Promise<readonly string[]> => {
  const url = await demo.said(/http:\/\/127\.0\.0\.1:\d+\/page/);
  const tab = await openTab(browser, url, pictures, options);
  try {
    const name = `demo-${view}`;
    return [...(await screensOf(tab, url, name)), ...(await applicationsOf(tab, url, name, ofDemo))];
  } finally {
    await tab.close();
  }
};

export const demoPictures: Case = {
  name: "15 in the demo every screen has its picture, wide and on a phone, light and dark: nothing overflows, breaks within a word or is cut",
  run: async (fixture) => {
    const found: string[] = [];
    for (const view of views) found.push(...(await inDemo(fixture, view)));
    must(found.length === 0, found.join("\n"));
    return [`${views.length * (screens.length + ofDemo.length)} pictures`];
  },
};

export const hostPictures: Case = {
  name: "15 on a host every screen has its picture, wide and on a phone: losses, a gang, a flow and a failure, too",
  run: async (fixture) => {
    const found: string[] = [];
    for (const [view, options] of sizes)
      await onHost(
        fixture,
        async (tab) => {
          const name = `host-${view}`;
          found.push(...(await screensOf(tab, fixture.host.url, name)));
          found.push(...(await applicationsOf(tab, fixture.host.url, name, ofHost)));
        },
        options,
      );
    must(found.length === 0, found.join("\n"));
    return [`${sizes.length * (screens.length + ofHost.length)} pictures`];
  },
};

export const places: Case = {
  name: "16 each screen has a title of its own; an address may have its kind in lower case; an ended application says how it ended, and shows its log",
  run: async ({ browser, demo, pictures }) => {
    const url = await demo.said(/http:\/\/127\.0\.0\.1:\d+\/page/);
    const tab = await openTab(browser, url, pictures);
    try {
      const titles = new Set<string>();
      for (const screen of screens) {
        await tab.page.goto(`${url}?screen=${screen}`);
        await tab.page.getByRole("heading", { level: 1 }).waitFor();
        titles.add(await tab.page.title());
      }
      must(titles.size === screens.length, [...titles].join(", "));
      await tab.page.goto(`${url}?application=${encodeURIComponent("sparkapplication/default/spark-pi")}`);
      await tab.page.getByRole("heading", { level: 1, name: "spark-pi" }).waitFor();
      must((await tab.page.title()) === "default/spark-pi, Spark · Rekindle", await tab.page.title());
      await tab.page.getByText(/^Completed after \d+ s/).waitFor();
      await tab.page.getByRole("tab", { name: "Log", selected: true }).waitFor();
      await tab.page.goto(`${url}?application=${encodeURIComponent("job/default/flaky")}`);
      await tab.page.getByText(/^Failed after \d+ s: pod flaky-w-0 failed \(exit 1\)/).waitFor();
      must((await tab.page.getByRole("tab", { name: /^Losses/ }).count()) === 0, "a Job has a tab for executors");
      must(
        (await tab.page.getByRole("tab", { name: /^Events [1-9]/, selected: true }).count()) === 1,
        "another tab is shown first",
      );
      const faults = tab.faults();
      must(faults.length === 0, faults.join("; "));
      return [...titles];
    } finally {
      await tab.close();
    }
  },
};
