/** The cases of single screens: a job's gang, a flow's graph, a log, and a record that has to be repaired. */
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { must } from "../scene.ts";
import { objections } from "./browser.ts";
import { type PageCluster, sparkApplication } from "./fixture.ts";
import { type Case, onHost, open, watched } from "./tabs.ts";

export const members: Case = {
  name: "2 a job shows the pods of its gang, and a flow its graph; a cell opens its pod's log",
  run: (fixture) =>
    onHost(fixture, async (tab) => {
      await open(tab, fixture.host.url, "Job/team-a/gang");
      const gang = tab.page.getByRole("region", { name: "Gang" });
      await gang.locator(".cell.running").nth(3).waitFor();
      must((await gang.locator(".cell").count()) === 4, "a gang of four pods has another number of cells");
      must(/4 of at least 4 pods/.test((await gang.textContent()) ?? ""), "the gang is not said to be whole");
      await tab.shoot("gang");
      const ofGang = await objections(tab);
      await gang.getByRole("button", { name: "worker 1 runs" }).click();
      const written = tab.page.getByRole("region", { name: "Log of gang-worker-1" });
      await written.or(tab.page.getByText("gang-worker-1 has written nothing yet")).waitFor();
      await open(tab, fixture.host.url, "JobFlow/team-a/nightly");
      const flow = tab.page.getByRole("region", { name: "Flow", exact: true });
      await flow.locator("svg .node").nth(2).waitFor();
      await flow.locator("svg .node.running", { hasText: "extract" }).waitFor({ timeout: 15_000 });
      await flow.getByRole("row", { name: /train extract extract/ }).waitFor();
      must((await flow.locator("svg .edge").count()) === 3, "the graph has not three edges");
      await tab.shoot("flow");
      const found = [...ofGang, ...(await objections(tab))];
      must(found.length === 0, found.join("; "));
      return [];
    }),
};

export const logs: Case = {
  name: "9 a log with a line of 1 MB, markup and terminal codes is shown, and does nothing",
  run: (fixture) =>
    onHost(fixture, async (tab) => {
      await open(tab, fixture.host.url, watched);
      await tab.page.keyboard.press("l");
      const log = tab.page.getByRole("region", { name: /^Log of watched-/ });
      await log.getByText("before <img").waitFor();
      const text = (await log.textContent()) ?? "";
      must(text.length < 70_000, `${text.length} characters of a log`);
      must(!text.includes("\u001b"), "the log has codes that steer a terminal");
      must((await tab.page.locator("main img").count()) === 0, "an element was made of a log");
      must((await tab.page.title()) !== "owned", "a script of a log ran");
      await tab.shoot("log");
      const found = await objections(tab);
      must(found.length === 0, found.join("; "));
      return [`${text.length} characters`];
    }),
};

export const keptLogs: Case = {
  name: "2 the kept log of an attempt whose driver is gone is shown by a host and by a function",
  run: async (fixture) => {
    const { cluster, host, served } = fixture;
    const { spec, ...rest } = sparkApplication("team-a", "retried", 1);
    const restartPolicy = { type: "OnFailure", onFailureRetries: 1, onFailureRetryInterval: 1 };
    cluster.submit({ ...rest, spec: { ...spec, restartPolicy } });
    const found: string[] = [];
    for (const at of [host.url, served.url])
      await onHost(
        fixture,
        async (tab) => {
          await open(tab, at, "SparkApplication/team-a/retried");
          await tab.page.getByRole("tab", { name: /^Runs/ }).click();
          await tab.page.getByRole("button", { name: "Attempt 1" }).click({ timeout: 30_000 });
          const log = tab.page.getByRole("region", { name: "Log of retried-driver" });
          await log.getByText("the first attempt").waitFor();
          await tab.page.getByText("The end of the log of attempt 1, kept").waitFor();
          await tab.shoot("kept-log");
          found.push(...(await objections(tab)));
          await tab.page.getByRole("button", { name: "Show the present log" }).click();
          await tab.page.getByText("The end of the log of attempt 1").waitFor({ state: "detached" });
        },
        { at },
      );
    cluster.remove("team-a", "retried");
    must(found.length === 0, found.join("; "));
    return [];
  },
};

export const money: Case = {
  name: "2 the receipt shows money where prices are set, and Overview by namespace",
  run: (fixture) =>
    onHost(fixture, async (tab) => {
      await open(tab, fixture.host.url, watched);
      const receipt = tab.page.getByRole("region", { name: "Receipt" });
      await receipt
        .getByText(/^0\.\d+ US\$, [\d.]+ core-h, [\d.]+ GiB-h$/)
        .first()
        .waitFor();
      await tab.shoot("receipt");
      const ofReceipt = await objections(tab);
      await tab.page.goto(`${fixture.host.url}?screen=overview`);
      const used = tab.page.getByRole("region", { name: "Used, by namespace", exact: true });
      await used.getByRole("row", { name: /^team-a [\d.]+ US\$/ }).waitFor();
      await used.getByRole("row", { name: /^team-b [\d.]+ US\$/ }).waitFor();
      await tab.shoot("costs");
      const found = [...ofReceipt, ...(await objections(tab))];
      must(found.length === 0, found.join("; "));
      return [(await used.getByRole("row", { name: /^team-a/ }).textContent()) ?? ""];
    }),
};

const named = z.object({ items: z.array(z.object({ metadata: z.object({ name: z.string() }) })) });

const checkpoints = z.object({
  items: z.array(
    z.object({ metadata: z.object({ name: z.string(), annotations: z.record(z.string(), z.string()).default({}) }) }),
  ),
});

const patch = ({ simulator }: PageCluster, path: string, body: object): void => {
  const headers = { "content-type": "application/merge-patch+json" };
  const answer = simulator.handle({ method: "PATCH", path, headers, body: JSON.stringify(body) });
  must(answer.status === 200, `PATCH ${path}: ${answer.status} ${answer.body}`);
};

/**
 * Damages the record of an application, and deletes one of its executors: the step that saves the loss meets the version of another
 * hand, and reads the record. A step that has nothing to save would go by the host's cache.
 */
const damage = (cluster: PageCluster, namespace: string, name: string): void => {
  const path = `/apis/rekindle.dev/v1alpha1/namespaces/${namespace}/checkpoints`;
  const listed = cluster.simulator.handle({ method: "GET", path, headers: {} });
  const found = checkpoints
    .parse(JSON.parse(listed.body))
    .items.find(({ metadata }) => metadata.annotations["rekindle.dev/name"] === name);
  must(found !== undefined, `there is no record of ${name}`);
  patch(cluster, `${path}/${found?.metadata.name}`, { spec: { memory: { attempt: "none", history: "none" } } });
  const inNamespace = `/api/v1/namespaces/${namespace}/pods`;
  const executors = cluster.simulator.handle({
    method: "GET",
    path: `${inNamespace}?labelSelector=${encodeURIComponent(`sparkoperator.k8s.io/app-name=${name},spark-role=executor`)}`,
    headers: {},
  });
  const [executor] = named.parse(JSON.parse(executors.body)).items;
  must(executor !== undefined, `${name} has no executor`);
  cluster.simulator.handle({ method: "DELETE", path: `${inNamespace}/${executor?.metadata.name}`, headers: {} });
};

export const repairs: Case = {
  name: "2 a record that cannot be used is counted beside Recovery, which shows the command that repairs it",
  run: (fixture) =>
    onHost(fixture, async (tab) => {
      await tab.page.locator(".row.running", { hasText: "geo" }).waitFor({ timeout: 20_000 });
      await sleep(1_500);
      damage(fixture.cluster, "team-b", "geo");
      await tab.page.getByRole("link", { name: "Recovery 1" }).click({ timeout: 20_000 });
      const table = tab.page.getByRole("region", { name: "Records to be repaired" });
      await table.getByText("rekindle recover sparkapplication/team-b/geo --no-strict").waitFor();
      await tab.shoot("recovery");
      const found = await objections(tab);
      must(found.length === 0, found.join("; "));
      return [];
    }),
};

export const queueGroups: Case = {
  name: "2 a queue shows the groups that wait in it, in their order and with what each lacks, on a host and by a function",
  run: async (fixture) => {
    for (const at of [fixture.host.url, fixture.served.url])
      await onHost(
        fixture,
        async (tab) => {
          await tab.page.goto(`${at}?screen=queues`);
          await tab.page.getByRole("button", { name: "narrow" }).click();
          const panel = tab.page.getByRole("region", { name: "Waiting in narrow" });
          await panel.getByText("2 wait, the next one first").waitFor();
          // Both were created within one second, so that their names order them.
          await panel.getByRole("row", { name: /^1 team-[ab]\/patient .*\bcpu\b/ }).waitFor({ timeout: 15_000 });
          const text = (await panel.textContent()) ?? "";
          must(text.includes("team-a/patient") && text.includes("team-b/patient"), text);
          await tab.shoot(at === fixture.host.url ? "queue-groups" : "queue-groups-of-a-function");
          const found = await objections(tab);
          must(found.length === 0, found.join("; "));
          return [];
        },
        { at },
      );
    return [];
  },
};
