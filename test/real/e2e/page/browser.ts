/** Chromium as the cases use it: every tab notes its console errors and the requests that leave its server. */
import { join } from "node:path";
import axe from "axe-core";
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { must } from "../scene.ts";

export const openBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: "/usr/bin/chromium",
    // Chromium refuses its sandbox to root; it opens only pages of this lane.
    chromiumSandbox: process.getuid?.() !== 0,
  });

export type Tab = {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors in the console, uncaught errors and requests to other servers since the last call. */
  faults(): readonly string[];
  /** Writes a picture into the folder of the run. */
  shoot(name: string): Promise<void>;
  close(): Promise<void>;
};

const noted = (page: Page, origin: string): (() => readonly string[]) => {
  let notes: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") notes.push(`console: ${message.text()} ${message.location().url}`);
  });
  page.on("pageerror", ({ message }) => notes.push(`uncaught: ${message}`));
  page.on("dialog", (dialog) => {
    notes.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== origin) notes.push(`foreign request: ${request.url()}`);
  });
  return () => {
    const taken = notes;
    notes = [];
    return taken;
  };
};

/** Opens a tab in a context of its own. `url` is the page's; times are shown in UTC. */
export const openTab = async (
  browser: Browser,
  url: string,
  dir: string,
  options: BrowserContextOptions = {},
): Promise<Tab> => {
  const viewport = { width: 1_280, height: 800 };
  const context = await browser.newContext({ viewport, timezoneId: "UTC", reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  const faults = noted(page, new URL(url).origin);
  return {
    ...{ page, context, faults },
    shoot: async (name) => {
      await page.screenshot({ path: join(dir, `${name}.png`) });
    },
    close: () => context.close(),
  };
};

/** Signs in with a caller's token, by the form. */
export const signIn = async ({ page, faults }: Tab, url: string, token: string): Promise<void> => {
  await page.goto(url);
  await page.getByLabel("Token of a caller").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.locator('[class="live live"], [class="live polling"]').waitFor();
  const others = faults().filter((note) => !/status of 401 .*\/page\/(rows|health)$|401 \(Unauthorized\)/.test(note));
  must(others.length === 0, `before sign-in: ${others.join("; ")}`);
};

/** Evaluates an expression in the tab. */
export const evaluated = <T>({ page }: Tab, expression: string): Promise<T> => page.evaluate<T>(expression);

/** Returns what axe objects to on the present screen. */
export const objections = async (tab: Tab): Promise<readonly string[]> => {
  await tab.page.evaluate(axe.source);
  return await evaluated(
    tab,
    `axe.run(document).then(({ violations }) => violations.map(({ id, nodes }) =>
       id + " at " + nodes.slice(0, 3).map(({ target }) => target.join(" ")).join(", ")))`,
  );
};
