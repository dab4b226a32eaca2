/**
 * `npm run bench -- bundle`: the files that each function loads before its first event, and the user CPU of a cold
 * process. Every round runs each function once, so that a loaded machine slows all of them alike.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import * as z from "zod";
import { bundle, functionNames, loadedBy } from "../../infra/bundle.ts";
import { request } from "../../shared/adapters/kubernetes/requests.ts";
import { openSimulator, type Simulator } from "../../shared/simulator/open.ts";
import { crds } from "../support/crds.ts";
import { apiServer, queue } from "./fakes.ts";
import type { Figure } from "./figures.ts";

const root = join(import.meta.dirname, "..", "..");
const rounds = 10;

const spansShape = z.object({
  nodeMs: z.number(),
  importMs: z.number(),
  eventMs: z.array(z.number()),
  answers: z.array(z.object({ batchItemFailures: z.array(z.unknown()) })),
});
type Spans = z.infer<typeof spansShape>;

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** Runs one cold process. */
const cold = async (name: string, events: readonly unknown[], env: Record<string, string> = {}): Promise<Spans> => {
  const args = [join(import.meta.dirname, "cold.mjs"), join(root, "dist", `${name}.mjs`), JSON.stringify(events)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: { ...process.env, ...env } });
  return spansShape.parse(JSON.parse(stdout.trim().split("\n").at(-1) ?? ""));
};

const applications = "/apis/sparkoperator.k8s.io/v1beta2/namespaces/default/sparkapplications";

const accounts = "/api/v1/namespaces/default/serviceaccounts";

const application = (name: string) => ({
  apiVersion: "sparkoperator.k8s.io/v1beta2",
  kind: "SparkApplication",
  metadata: { name, namespace: "default" },
  spec: {
    type: "Scala",
    mode: "cluster",
    sparkVersion: "4.1.1",
    image: "example/spark:4.1.1",
    mainClass: "org.apache.spark.examples.SparkPi",
    mainApplicationFile: "local:///opt/spark/examples/jars/spark-examples.jar",
    driver: { cores: 1, memory: "512m", serviceAccount: "spark" },
    executor: { instances: 1, cores: 1, memory: "512m" },
  },
});

const eventFor = (name: string) => ({
  Records: [
    {
      messageId: name,
      body: JSON.stringify({ cluster: "c", kind: "SparkApplication", namespace: "default", name, reason: "bench" }),
    },
  ],
});

/** Checks the work: each application has a driver, and no message is returned. */
const proven = async ({ transport }: Simulator, spans: Spans, names: readonly string[]): Promise<void> => {
  if (spans.answers.some(({ batchItemFailures }) => batchItemFailures.length > 0))
    throw new Error("a message came back");
  const pods = JSON.stringify(await request(transport, "GET", "/api/v1/namespaces/default/pods"));
  const missing = names.filter((name) => !pods.includes(`"${name}-driver`));
  if (missing.length > 0) throw new Error(`no driver pod of ${missing.join(", ")}`);
};

/** Runs `reconcile` cold with two events, the same work for two applications. */
const withEvents = async (env: Record<string, string> = {}): Promise<Spans> => {
  const simulator = openSimulator({ crds });
  const [api, sqs] = await Promise.all([apiServer(simulator), queue()]);
  const names = ["first", "second"];
  try {
    await request(simulator.transport, "POST", accounts, { metadata: { name: "spark" } });
    for (const name of names) await request(simulator.transport, "POST", applications, application(name));
    const spans = await cold("reconcile", names.map(eventFor), {
      REKINDLE_CLUSTER_RECORD: JSON.stringify({ server: api.url }),
      REKINDLE_CLUSTER: "c",
      REKINDLE_FIFO_URL: `${sqs.url}/0/keys.fifo`,
      REKINDLE_DELAY_URL: `${sqs.url}/0/later`,
      AWS_REGION: "eu-west-1",
      AWS_ACCESS_KEY_ID: "bench",
      AWS_SECRET_ACCESS_KEY: "bench",
      ...env,
    });
    await proven(simulator, spans, names);
    return spans;
  } finally {
    api.close();
    sqs.close();
  }
};

const reconcileFigures = (lives: readonly Spans[]): readonly Figure[] => {
  const of = (name: string, pick: (spans: Spans) => number, aim?: number): Figure => ({
    ...{ name: `bundle.reconcile.${name}`, value: median(lives.map(pick)), unit: "ms" },
    ...(aim === undefined ? {} : { aim }),
  });
  const [first, second] = [0, 1].map(
    (index) =>
      ({ eventMs }: Spans) =>
        eventMs[index] ?? Number.NaN,
  );
  if (first === undefined || second === undefined) throw new Error("two events were sent");
  return [
    of("node", ({ nodeMs }) => nodeMs),
    of("first-event", first),
    of("second-event", second),
    of("until-first-event-is-taken", ({ nodeMs, importMs }) => nodeMs + importMs, 100),
    of("until-first-event-is-done", (spans) => spans.nodeMs + spans.importMs + first(spans), 100),
  ];
};

/** Loads every function and chunk, as a step of the image does; returns the environment with what Node has compiled. */
const compiledIn = async (folder: string): Promise<Record<string, string>> => {
  const env = { NODE_COMPILE_CACHE: folder };
  const load = `for (const file of fs.globSync("dist/**/!(cli).mjs")) import(\`./\${file}\`)`;
  await promisify(execFile)(process.execPath, ["-e", load], { cwd: root, env: { ...process.env, ...env } });
  return env;
};

/** Returns the aim for `reconcile`, the function whose cold start costs most; none for the others. */
const aims = (name: string, aim: number): { readonly aim?: number } => (name === "reconcile" ? { aim } : {});

/** Builds and measures. Throws when a function did not do its work. */
export const benchBundle = async (): Promise<readonly Figure[]> => {
  const meta = await bundle();
  const imports = new Map(functionNames().map((name): [string, number[]] => [name, []]));
  const [lives, compiledLives]: [Spans[], Spans[]] = [[], []];
  const folder = mkdtempSync(join(tmpdir(), "rekindle-compiled-"));
  const compiled = await compiledIn(folder);
  for (let round = 0; round < rounds; round++) {
    for (const [name, measured] of imports) measured.push((await cold(name, [])).importMs);
    lives.push(await withEvents());
    compiledLives.push(await withEvents(compiled));
  }
  rmSync(folder, { recursive: true });
  const perFunction = [...imports].flatMap(([name, measured]): readonly Figure[] => {
    const { atOnce, ever } = loadedBy(meta, name);
    return [
      { name: `bundle.${name}.before-first-event`, value: atOnce.bytes / 1_000, unit: "kB", ...aims(name, 250) },
      { name: `bundle.${name}.files-before-first-event`, value: atOnce.files.length, unit: "files" },
      { name: `bundle.${name}.all-chunks`, value: ever.bytes / 1_000, unit: "kB" },
      { name: `bundle.${name}.import`, value: median(measured), unit: "ms" },
    ];
  });
  const [, , , , until] = reconcileFigures(compiledLives);
  if (until === undefined) throw new Error("a cold start has five figures");
  const inImage = { ...until, name: "bundle.reconcile.compiled.until-first-event-is-done" };
  return [...perFunction, ...reconcileFigures(lives), inImage];
};
