/** The cases of actions: buttons that change the cluster, and requests that must not. */
import { setTimeout as sleep } from "node:timers/promises";
import { must } from "../scene.ts";
import { statusOf } from "./access-cases.ts";
import { evaluated, objections, type Tab } from "./browser.ts";
import { type PageCluster, sparkApplication, tokens } from "./fixture.ts";
import { type Case, onHost, open, watched } from "./tabs.ts";

const path = "/apis/sparkoperator.k8s.io/v1beta2/namespaces/team-a/sparkapplications";

type Found = {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: { readonly suspend?: boolean };
};

const found = ({ simulator }: PageCluster, name: string): Found | undefined => {
  const { status, body } = simulator.handle({ method: "GET", path: `${path}/${name}`, headers: {} });
  return status === 200 ? JSON.parse(body) : undefined;
};

const isPaused = (cluster: PageCluster, name: string): boolean =>
  found(cluster, name)?.metadata.annotations?.["rekindle.dev/paused"] === "true";

/** Waits until the cluster is as an action should have made it. */
const until = async (what: string, holds: () => boolean): Promise<void> => {
  for (const end = performance.now() + 10_000; !holds(); await sleep(50)) must(performance.now() < end, what);
};

/** Presses a button until the page says so: an application that has just changed refuses an action on what was seen. */
const pressed = async ({ page }: Tab, press: () => Promise<void>, said: string): Promise<void> => {
  for (const end = performance.now() + 20_000; ; await sleep(500)) {
    await press();
    const answer = page.getByRole("status").filter({ hasText: /acted/ });
    await answer.first().waitFor();
    const text = (await answer.allTextContents()).join();
    if (text.includes(said)) return;
    must(text.includes("has changed since you saw it") && performance.now() < end, text);
  }
};

export const buttons: Case = {
  name: "10 buttons pause, resume, suspend and delete an application, after the questions that each needs",
  run: (fixture) =>
    onHost(
      fixture,
      async (tab) => {
        const { cluster, host } = fixture;
        const { page } = tab;
        cluster.submit(sparkApplication("team-a", "acted", 1));
        await open(tab, host.url, "SparkApplication/team-a/acted");
        await page.getByText("RUNNING").first().waitFor({ timeout: 20_000 });
        const pause = () => page.getByRole("button", { name: "Pause" }).click();
        await pressed(tab, pause, "team-a/acted is paused: its pods continue");
        must(isPaused(cluster, "acted"), "Pause was pressed, and the application is not paused");
        await tab.shoot("paused");
        await page.getByRole("button", { name: "Undo" }).click();
        await until("Undo was pressed, and the application is paused", () => !isPaused(cluster, "acted"));
        await page.getByRole("button", { name: "Suspend" }).click();
        const dialog = page.getByRole("dialog", { name: "Confirm" });
        await dialog.getByText(/^It is RUNNING; 2 pods of it run/).waitFor();
        await dialog.getByText("rekindle suspend team-a/acted").waitFor();
        const found1 = await objections(tab);
        await tab.shoot("suspend");
        await page.keyboard.press("Escape");
        must(found(cluster, "acted")?.spec.suspend !== true, "the dialog was left, and the application is suspended");
        const suspend = async (): Promise<void> => {
          await page.getByRole("button", { name: "Suspend" }).click();
          await dialog.getByRole("button", { name: "Suspend acted" }).click();
        };
        await pressed(tab, suspend, "team-a/acted is being suspended");
        await until("the application is not suspended", () => found(cluster, "acted")?.spec.suspend === true);
        await page.getByText("SUSPENDED").first().waitFor({ timeout: 20_000 });
        await page.getByRole("button", { name: "Delete" }).click();
        await dialog.getByRole("textbox").fill("another-name");
        await dialog.getByRole("button", { name: "Delete acted" }).click();
        await sleep(500);
        must(found(cluster, "acted") !== undefined, "another name was typed, and the application is deleted");
        await tab.shoot("delete");
        await page.keyboard.press("Escape");
        const remove = async (): Promise<void> => {
          await page.getByRole("button", { name: "Delete" }).click();
          await dialog.getByRole("textbox").fill("acted");
          await dialog.getByRole("button", { name: "Delete acted" }).click();
        };
        await pressed(tab, remove, "team-a/acted is being deleted");
        await until("the application is not deleted", () => found(cluster, "acted") === undefined);
        must(found1.length === 0, found1.join("; "));
        tab.faults();
        return [];
      },
      { token: tokens.actor },
    ),
};

export const refusals: Case = {
  name: "10 a reader has no buttons and gets 403, as requests of other sites and without the header do; nothing is written",
  run: (fixture) =>
    onHost(fixture, async (tab) => {
      const { cluster, host } = fixture;
      await open(tab, host.url, watched);
      await tab.page.getByText("Read only", { exact: true }).waitFor();
      must((await tab.page.getByRole("button", { name: "Pause" }).count()) === 0, "a reader has a button");
      const inPage = await evaluated<number>(
        tab,
        `fetch("/page/action/${watched}", {
           method: "POST", body: JSON.stringify({ action: "delete", uid: "u", version: "1" }),
           headers: { "content-type": "application/json", "x-rekindle-page": "1", "idempotency-key": "a-reader-acts" },
         }).then(({ status }) => status)`,
      );
      must(inPage === 403, `the session of a reader: ${inPage}`);
      const url = `${host.url}/action/${watched}`;
      const base = {
        authorization: `Bearer ${tokens.actor}`,
        "content-type": "application/json",
        "idempotency-key": "a-foreign-request",
      };
      const header = { "x-rekindle-page": "1" };
      const statuses = [
        await statusOf(url, base, "POST"),
        await statusOf(url, { ...base, ...header, origin: "https://attacker.example" }, "POST"),
        await statusOf(url, { ...base, ...header, "sec-fetch-site": "cross-site" }, "POST"),
      ];
      must(
        statuses.every((status) => status === 403),
        `foreign requests: ${statuses.join()}`,
      );
      must(
        found(cluster, "watched") !== undefined && !isPaused(cluster, "watched"),
        "a refused request was carried out",
      );
      // The browser reports the answer 403.
      const faults = tab.faults().filter((note) => !note.includes("403"));
      must(faults.length === 0, faults.join("; "));
      return [];
    }),
};
