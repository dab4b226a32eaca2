/** The assertions of the lane of Apache's applications about a recorded application and the objects that it leaves. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { kubectl, must, pi, type Scene } from "../scene.ts";
import { type Page, type Pod, statesOf } from "./book.ts";

/** The states of an attempt whose driver runs; a driver that ends before a host sees it shows none of them. */
const unseen = "(?:DriverStarted )?(?:DriverReady )?(?:RunningHealthy )?";

export const started = ["Submitted", "DriverRequested", "DriverStarted", "DriverReady", "RunningHealthy"] as const;

/**
 * The pattern of a history. A name stands for itself; `…` for the states of a driver that runs, any of which may be
 * missing; `executors` for the states that the number of ready executors asks for, the last of which are those of a
 * driver that dismisses its executors before it ends.
 */
export const patternOf = (states: readonly string[]): RegExp => {
  const one = (name: string): string => {
    if (name === "…") return unseen;
    return name === "executors"
      ? "(?:InitializedBelowThresholdExecutors )?(?:RunningWithPartialCapacity )?RunningHealthy (?:Running\\w+ )*"
      : `${name} `;
  };
  return new RegExp(`^${states.map(one).join("")}$`);
};

/** Asserts the history of an application, and one body for each of its attempts, one after the other. */
export const mustHaveLived = (
  name: string,
  page: Page,
  { states, attempts = 1 }: { readonly states: readonly string[]; readonly attempts?: number },
): string => {
  const shown = statesOf(page);
  must(patternOf(states).test(`${shown.join(" ")} `), `${name}: ${shown.join(" → ")}; expected ${states.join(" → ")}`);
  must(page.faults.length === 0, `${name}: ${page.faults.slice(0, 3).join("; ")}`);
  const bodies = [...page.drivers].map(([driver, uids]) => `${driver}: ${uids.size}`);
  const named = Array.from({ length: attempts }, (_, attempt) => `${name}-${attempt}-driver: 1`);
  must(
    bodies.toSorted().join() === named.join(),
    `${name}: drivers ${bodies.join(", ")}; expected ${named.join(", ")}`,
  );
  must(page.mostDrivers <= 1, `${name}: ${page.mostDrivers} drivers were alive at once`);
  return `${name}: ${shown.join(" → ")}`;
};

export const podOf = (page: Page, role: "driver" | "executor"): Pod => {
  const found = [...page.pods.values()].find(({ metadata }) => metadata.labels["spark-role"] === role);
  if (found === undefined) throw new Error(`no ${role} pod was ever seen`);
  return found;
};

/** The log of a pod's containers, as the node keeps it once the pod is deleted. */
export const keptLog = async ({ cluster }: Scene, { metadata }: Pod): Promise<string> => {
  const dir = join(cluster.nodes[0]?.dir ?? "", "logs", `default_${metadata.name}_${metadata.uid}`);
  const files = (await readdir(dir, { recursive: true })).filter((file) => file.endsWith(".log"));
  return (await Promise.all(files.map((file) => readFile(join(dir, file), "utf8")))).join("\n");
};

/** Asserts the result in the log of the last driver. */
export const mustSayPi = async (scene: Scene, name: string, page: Page): Promise<void> => {
  const last = [...page.pods.values()].filter(({ metadata }) => metadata.labels["spark-role"] === "driver").at(-1);
  const log = last === undefined ? "" : await keptLog(scene, last);
  must(pi.test(log), `${name}: its driver's log does not say that Pi is roughly 3`);
};

const kinds = "pods,services,configmaps,networkpolicies,persistentvolumeclaims";

type Gone = {
  /** False: its record stays, because the application does. */
  readonly withRecord?: boolean;
  /** Functions that are killed take longer: calls come again after their delays, and the record of its updates goes last. */
  readonly withinMs?: number;
};

/** Asserts that no object of the application is left: neither of its attempts nor a record, that of its updates among them. */
export const mustBeGone = async (
  { cluster }: Scene,
  name: string,
  { withRecord = true, withinMs = 120_000 }: Gone = {},
): Promise<void> => {
  const left = async (): Promise<readonly string[]> => {
    const selector = ["-l", `spark.operator/spark-app-name=${name}`];
    const objects = await kubectl(cluster, ["get", kinds, ...selector, "-o", "name"]);
    const records = withRecord ? await kubectl(cluster, ["get", "checkpoints.rekindle.dev", "-o", "name"]) : "";
    const own = records.split("\n").filter((line) => line.endsWith(`apachesparkapplication.${name}`));
    return [...objects.split("\n").filter((line) => line !== ""), ...own];
  };
  const until = performance.now() + withinMs;
  let rest = await left();
  while (rest.length > 0 && performance.now() < until) {
    await sleep(500);
    rest = await left();
  }
  must(rest.length === 0, `${name} left behind: ${rest.join(" ")}`);
};
