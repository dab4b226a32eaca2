/** What all cases share: the fixture, and tabs of the host's page. */
import type { Browser, BrowserContextOptions } from "playwright-core";
import { must } from "../scene.ts";
import { openTab, signIn, type Tab } from "./browser.ts";
import { type Command, type PageCluster, type PageHost, tokens } from "./fixture.ts";
import type { PodOracle } from "./oracle.ts";

export type Fixture = {
  readonly browser: Browser;
  /** The folder of the run's pictures. */
  readonly pictures: string;
  readonly cluster: PageCluster;
  readonly host: PageHost;
  /** The api function on the host's cluster. */
  readonly served: Pick<PageHost, "url">;
  readonly oracle: PodOracle;
  /** `rekindle page` on 10,000 applications. */
  readonly large: PageCluster;
  readonly personal: Command;
  /** `rekindle demo --serve`, which began with the lane, and its kubeconfig. */
  readonly demo: Command;
  readonly demoConfig: string;
};

export type Case = { readonly name: string; readonly run: (fixture: Fixture) => Promise<readonly string[]> };

export const screens = ["overview", "applications", "queues", "schedules", "recovery", "health"] as const;

/** Runs `act` in a new tab of the page, usually the host's, signed in; afterwards its console has no error. */
export const onHost = async <T>(
  { browser, host, pictures }: Fixture,
  act: (tab: Tab) => Promise<T>,
  options: BrowserContextOptions & { readonly token?: string; readonly at?: string } = {},
): Promise<T> => {
  const { token = tokens.operator, at = host.url, ...context } = options;
  const tab = await openTab(browser, at, pictures, context);
  try {
    await signIn(tab, at, token);
    const result = await act(tab);
    const faults = tab.faults();
    must(faults.length === 0, faults.join("; "));
    return result;
  } finally {
    await tab.close();
  }
};

export const open = async ({ page }: Tab, base: string, application: string): Promise<void> => {
  await page.goto(`${base}?screen=application&application=${encodeURIComponent(application)}`);
  await page.getByRole("region", { name: "Timeline", exact: true }).waitFor();
};

export const watched = "SparkApplication/team-a/watched";
