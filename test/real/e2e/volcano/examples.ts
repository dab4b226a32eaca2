/**
 * One case per example file: the file is applied unmodified, in parallel with all others, and compared with its row.
 */
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { patienceMs } from "../../cluster/api.ts";
import { must } from "../scene.ts";
import { phaseOf, until } from "./book.ts";
import { expected, type Row, type Wanted } from "./expected.ts";
import type { ExampleFile } from "./files.ts";
import { applied, type Fixture, hasRight, namespaced, serves } from "./fixture.ts";

/** The time until the next fifth minute, and the duration of the Job. */
const cronMs = 360_000;

export const jobsPath = (namespace: string): string => `/apis/batch.volcano.sh/v1alpha1/namespaces/${namespace}/jobs`;
const queues = "/apis/scheduling.volcano.sh/v1beta1/queues";
const flowsPath = (namespace: string): string => `/apis/flow.volcano.sh/v1alpha1/namespaces/${namespace}`;

type Placed = { readonly fixture: Fixture; readonly namespace: string };

const holds = (wanted: Wanted, fixture: Fixture, namespace: string, name: string): boolean => {
  const page = fixture.book.of(namespace, name);
  const status = page.last?.status;
  return (
    phaseOf(page) === wanted.phase &&
    Object.entries(wanted.counted).every(([state, count]) => status?.[state] === count)
  );
};

const comesTo = async ({ fixture, namespace }: Placed, name: string, wanted: Wanted): Promise<string> => {
  const page = fixture.book.of(namespace, name);
  await until(
    `${name} ${wanted.phase} ${JSON.stringify(wanted.counted)}`,
    () => holds(wanted, fixture, namespace, name),
    page,
    patienceMs,
  );
  const { retryCount, version } = page.last?.status ?? { retryCount: -1, version: -1 };
  must(retryCount === 0, `${name}: ${retryCount} retries, though nothing failed`);
  // Completing a job deletes its pods, which are then of an earlier version.
  must(version === (page.phases.includes("Completing") ? 1 : 0), `${name}: version ${version}`);
  return `${name}: ${page.phases.join(" → ")} ${JSON.stringify(wanted.counted)}`;
};

/** Returns the refusal of admission once a host is up; the dry run stores nothing. */
const refusal = async ({ fixture, namespace }: Placed, file: string): Promise<string> => {
  const end = performance.now() + patienceMs;
  const args = ["apply", "--dry-run=server", "-n", namespace, "-f", file];
  for (;;) {
    const { code, stderr } = await fixture.scene.cluster.kubectl(args);
    if (code !== 0) return stderr.trim();
    must(performance.now() < end, `${file} was never refused`);
    await sleep(1_000);
  }
};

/**
 * Checks the refusal by admission, and the same words in the Job's status if no webhook answers because its host is
 * killed.
 */
const isRefused = async (placed: Placed, file: string, name: string, words: RegExp): Promise<string> => {
  const { fixture, namespace } = placed;
  const said = await refusal(placed, file);
  must(words.test(said) && said.includes("denied the request"), `${name} is refused with "${said}"`);
  await fixture.unseen(async () => void (await applied(fixture.scene, namespace, file)));
  const page = fixture.book.of(namespace, name);
  const told = (): string => page.last?.status?.state.message ?? "";
  await until(`told what is wrong with ${name}`, () => words.test(told()), page, patienceMs);
  await sleep(3_000);
  must(page.pods.size === 0, `${name}: ${page.pods.size} pods were made of it`);
  return `${name}: ${said}; applied while no host lives, it is told in its message, and has no pod`;
};

const state = z.object({ status: z.looseObject({ state: z.unknown() }).optional() });

const isOpen = async ({ fixture }: Placed, name: string): Promise<string> => {
  const { api } = fixture.scene.cluster;
  await api.until(`${queues}/${name}`, ({ body }) => state.safeParse(body).data?.status?.state === "Open", patienceMs);
  return `Queue ${name}: Open`;
};

const flows = async (placed: Placed, name: string, phase: string): Promise<string> => {
  const { api } = placed.fixture.scene.cluster;
  const shown = z.object({ status: z.object({ state: z.object({ phase: z.string() }) }) });
  await api.until(
    `${flowsPath(placed.namespace)}/jobflows/${name}`,
    ({ body }) => shown.safeParse(body).data?.status.state.phase === phase,
    patienceMs,
  );
  const made = placed.fixture.book.within(placed.namespace).filter(([job]) => job.startsWith(`${name}-`));
  const ends = made.map(([job, page]) => `${job} ${phaseOf(page)}`).toSorted();
  must(made.length === 5 && made.every(([, page]) => phaseOf(page) === "Completed"), `JobFlow ${name}: ${ends}`);
  return `JobFlow ${name}: ${phase} after ${ends.join(", ")}`;
};

const fires = async ({ fixture, namespace }: Placed, name: string): Promise<string> => {
  const end = performance.now() + cronMs;
  const done = () =>
    fixture.book.within(namespace).find(([job, page]) => job.startsWith(`${name}-`) && phaseOf(page) === "Completed");
  while (done() === undefined && performance.now() < end) await sleep(500);
  const [job, page] = done() ?? [];
  must(page !== undefined, `CronJob ${name}: no Job of it is Completed after ${cronMs / 1_000} s`);
  const minutes = Number(job?.slice(name.length + 1));
  must(minutes % 5 === 0, `${job} is not named after a fifth minute`);
  return `CronJob ${name}: ${job} ${page?.phases.join(" → ")}`;
};

/** Returns the path of a kind that the API server does not serve, or undefined when the whole file can be judged. */
const lacks = async ({ scene }: Fixture, row: Row): Promise<string | undefined> => {
  const wanted = [
    ...(row.flows || row.templates ? ["/apis/flow.volcano.sh/v1alpha1/jobflows"] : []),
    ...(row.crons ? ["/apis/batch.volcano.sh/v1alpha1/cronjobs"] : []),
  ];
  for (const path of wanted) if (!(await serves(scene, path))) return `${path} is not among Rekindle's kinds`;
  return undefined;
};

/** True if queues can be expected to become Open; Jobs only need their queue to exist. */
const opens = async ({ scene }: Fixture, row: Row): Promise<boolean> =>
  row.queues === undefined || (await hasRight(scene, "patch", "queues.scheduling.volcano.sh/status"));

/**
 * Another file creates the queue, at the same time. It has no state until its controller opens it; until then admission
 * refuses its jobs.
 */
const unopened =
  /can only submit job to queue with state `Open`, queue `[^`]+` status is ``|unable to find job queue: queue\.scheduling\.volcano\.sh "[^"]+" not found/;

/** Applies the file, and again while a queue of it is not there or not open yet, as a user would. */
const appliedOnceOpen = async ({ fixture, namespace }: Placed, file: string): Promise<void> => {
  const end = performance.now() + patienceMs;
  for (;;) {
    const failure = await applied(fixture.scene, namespace, file).then(
      () => undefined,
      (cause: unknown) => cause,
    );
    if (failure === undefined) return;
    if (!unopened.test(String(failure)) || performance.now() > end) throw failure;
    await sleep(1_000);
  }
};

/** Returns the outcome in lines, or what is missing to judge it. */
export const judged = async (
  fixture: Fixture,
  { path, file, namespace }: ExampleFile,
): Promise<readonly string[] | { readonly missing: string }> => {
  const row = expected[path];
  if (row === undefined) throw new Error(`${path} has no row`);
  const missing = await lacks(fixture, row);
  if (missing !== undefined) return { missing };
  await namespaced(fixture.scene, namespace);
  const placed = { fixture, namespace };
  if (row.refused !== undefined) {
    const refusals = Object.entries(row.refused).map(([name, words]) => isRefused(placed, file, name, words));
    return [...(await Promise.all(refusals)), row.why];
  }
  await appliedOnceOpen(placed, file);
  if (!(await opens(fixture, row)))
    return { missing: "queues are opened by nobody: the host has no right to their status" };
  const lines = await Promise.all([
    ...Object.entries(row.jobs ?? {}).map(([name, wanted]) => comesTo(placed, name, wanted)),
    ...(row.queues ?? []).map((name) => isOpen(placed, name)),
    ...Object.entries(row.flows ?? {}).map(([name, phase]) => flows(placed, name, phase)),
    ...(row.crons ?? []).map((name) => fires(placed, name)),
    ...(row.templates ?? []).map((name) =>
      fixture.scene.cluster.api
        .until(`${flowsPath(namespace)}/jobtemplates/${name}`, ({ status }) => status === 200, patienceMs)
        .then(() => `JobTemplate ${name}: kept`),
    ),
  ]);
  return [...lines, row.why];
};
