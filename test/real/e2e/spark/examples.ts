/** Upstream's examples, unmodified and a few beside each other, each checked against upstream's documentation. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Case, kubectl, must, pi, running, type Scene } from "../scene.ts";
import { driverLog, stateOf } from "../witness.ts";
import { awaitEnd, isOver, type Ledger, openLedger, type Page, type Pod } from "./ledger.ts";

/** One example file: the application's name, and its checks beside the successful end. */
type Example = {
  readonly file: string;
  readonly name: string;
  readonly special?: (scene: Scene, page: Page) => Promise<string> | string;
  /** A check that is possible only while the application runs; may wait. */
  readonly meanwhile?: (scene: Scene, page: Page) => Promise<string>;
};

const podOf = (page: Page, role: "driver" | "executor"): Pod => {
  const found = [...page.pods.values()].find(({ metadata }) => metadata.labels["spark-role"] === role);
  if (found === undefined) throw new Error(`no ${role} pod was ever seen`);
  return found;
};

/** Returns the container that Spark runs in. */
const containerOf = (page: Page, role: "driver" | "executor"): Pod["spec"]["containers"][number] => {
  const { metadata, spec } = podOf(page, role);
  const found = spec.containers.find(({ name }) => name === `spark-kubernetes-${role}`);
  if (found === undefined) throw new Error(`${metadata.name} has no container spark-kubernetes-${role}`);
  return found;
};

/** Checks that the CPU of driver and executor is exactly that of the file. */
const customResources = (_: Scene, page: Page): string => {
  const cpu = (["driver", "executor"] as const).map((role) => {
    const { requests, limits } = containerOf(page, role).resources;
    return `${role} ${requests["cpu"]}–${limits["cpu"]}`;
  });
  const said = cpu.join(", ");
  must(said === "driver 500m–800m, executor 1200m–1500m", `cores are ${said}`);
  return said;
};

/** Checks that it starts with two executors and never has more than five. */
const initialExecutors = (_: Scene, page: Page): string => {
  const most = page.mostExecutors;
  must(most >= 2 && most <= 5, `at most ${most} executors at once, expected 2 to 5`);
  return `${most} executors at once`;
};

const memoryVolume = (_: Scene, page: Page): string => {
  for (const role of ["driver", "executor"] as const) {
    const mount = containerOf(page, role).volumeMounts.find(({ mountPath }) => mountPath === "/datadir");
    must(mount?.name === "spark-local-dir-1", `the ${role} has no spark-local-dir-1 at /datadir`);
    const volume = podOf(page, role).spec.volumes.find(({ name }) => name === "spark-local-dir-1");
    must(
      JSON.stringify(volume?.["emptyDir"]) === '{"medium":"Memory","sizeLimit":"1Gi"}',
      `the ${role}'s spark-local-dir-1 is ${JSON.stringify(volume)}`,
    );
  }
  return "emptyDir in memory at /datadir of both";
};

/** Memory and overhead of the spec, formatted as the API server formats quantities. */
const memories = { driver: "1Gi", executor: "1536Mi" } as const;

/** Checks the fields that a template may set; cores and memory come from the spec, not from the template. */
const templates = (_: Scene, page: Page): string => {
  for (const role of ["driver", "executor"] as const) {
    const { metadata } = podOf(page, role);
    const { env, resources } = containerOf(page, role);
    must(metadata.labels["spark.apache.org/version"] === "4.0.0", `the ${role} lacks its template's label`);
    must(metadata.annotations["spark.apache.org/version"] === "4.0.0", `the ${role} lacks its template's annotation`);
    must(
      ["KEY0", "KEY1", "KEY2"].every((key) => env.some(({ name }) => name === key)),
      `the ${role} lacks KEY0, KEY1 or KEY2 of its template`,
    );
    const asked = resources.requests["memory"];
    must(asked === memories[role], `the ${role} requests ${asked} of memory, expected ${memories[role]}`);
  }
  return "labels, annotations and environment of both templates";
};

/** Checks that the driver answers Prometheus at the port and path of its annotations while it runs. */
const servlet = async ({ cluster }: Scene, page: Page): Promise<string> => {
  while (!page.states.includes("RUNNING")) await sleep(200);
  const { metadata } = podOf(page, "driver");
  const { "prometheus.io/port": port, "prometheus.io/path": path } = metadata.annotations;
  const proxy = `/api/v1/namespaces/default/pods/${metadata.name}:${port}/proxy${path}`;
  // A busy driver may fail one request and answer the next.
  const told = async (): Promise<string> =>
    await cluster.api.call("GET", proxy).then(({ body }) => String(body), String);
  let said = await told();
  // Until its context is up, the page says that Spark is starting.
  while (!said.includes("metrics_executor_") && !isOver(page)) {
    await sleep(300);
    said = await told();
  }
  must(said.includes("metrics_executor_"), `${proxy} says "${said.slice(0, 200)}"`);
  return `metrics at :${port}${path}`;
};

const once = (page: Page, name: string): void => {
  const bodies = [...page.drivers.values()].map(({ size }) => size);
  must(bodies.length === 1 && bodies[0] === 1, `${name}: ${bodies.join("+")} driver pods in ${bodies.length} attempts`);
  must(page.last?.status?.executionAttempts === 1, `${name}: ${page.last?.status?.executionAttempts} executions`);
};

const judged = async (scene: Scene, ledger: Ledger, { name, special, meanwhile }: Example): Promise<string> => {
  const page = ledger.of(name);
  const seen = meanwhile?.(scene, page);
  seen?.catch(() => {});
  await awaitEnd(page, 600_000);
  const { last } = page;
  must(last !== undefined && stateOf(last) === "COMPLETED", `${name} is ${JSON.stringify(last?.status)}`);
  const said = pi.exec(await driverLog(scene.cluster.api, last?.status?.driverInfo?.podName ?? ""))?.[0];
  must(said !== undefined, `${name}: its driver's log does not say that Pi is roughly 3`);
  once(page, name);
  const more = [await seen, await special?.(scene, page)].filter((line) => line !== undefined);
  return [`${name}: ${page.states.join(" → ")}`, ...more, `"${said}"`].join("; ");
};

/** Checks that the application is deleted with its objects after its time to live of 30 s, and not before. */
const deletedInTime = async ({ cluster }: Scene, page: Page): Promise<string> => {
  const ended = Date.parse(page.last?.status?.terminationTime ?? "");
  while (!page.gone && Date.now() < ended + 150_000) await sleep(200);
  const seconds = Math.round((Date.now() - ended) / 1_000);
  must(page.gone, "spark-pi-ttl is still there, two minutes after its end");
  must(seconds >= 29, `deleted after ${seconds} s, before its 30 s were over`);
  const left = async (): Promise<string> =>
    await kubectl(cluster, [
      "get",
      "pods,services,configmaps",
      "-l",
      "sparkoperator.k8s.io/app-name=spark-pi-ttl",
      "-o",
      "name",
    ]);
  const until = performance.now() + 60_000;
  while ((await left()) !== "" && performance.now() < until) await sleep(500);
  const rest = await left();
  must(rest === "", `left behind: ${rest}`);
  return `deleted ${seconds} s after its end, with all its objects`;
};

/** The main family runs these, too. */
const ofMain: readonly Example[] = [
  { file: "spark-pi", name: "spark-pi" },
  { file: "spark-pi-python", name: "spark-pi-python" },
  { file: "spark-pi-configmap", name: "spark-pi-configmap" },
];

const together: readonly Example[] = [
  { file: "spark-pi-custom-resource", name: "spark-pi-custom-resource", special: customResources },
  { file: "spark-pi-ttl", name: "spark-pi-ttl", special: deletedInTime },
  { file: "spark-pi-pod-template", name: "spark-pi-pod-template", special: templates },
  { file: "spark-pi-dynamic-allocation", name: "spark-pi-dynamic-allocation", special: initialExecutors },
];

/** These have the names of examples of the main family. */
const afterwards: readonly Example[] = [
  { file: "spark-pi-emptydir", name: "spark-pi", special: memoryVolume },
  { file: "spark-pi-prometheus-servlet", name: "spark-pi-python", meanwhile: servlet },
];

const wave = async (scene: Scene, dir: string, examples: readonly Example[]): Promise<readonly string[]> => {
  const ledger = openLedger(scene.cluster.api);
  try {
    const files = examples.flatMap(({ file }) => ["-f", join(dir, `${file}.yaml`)]);
    await kubectl(scene.cluster, ["apply", ...files]);
    return await ledger.during(Promise.all(examples.map((one) => judged(scene, ledger, one))));
  } finally {
    await ledger.stop();
  }
};

const cleared = async ({ cluster }: Scene, examples: readonly Example[]): Promise<void> => {
  const names = examples.map(({ name }) => name);
  await kubectl(cluster, ["delete", "sparkapplications", ...names, "--cascade=foreground", "--wait"]);
};

/**
 * `dir` holds upstream's example files. The short form leaves those of the main family out. On two processors more drivers at
 * once starve each other, until one ends because the API server seems to be silent for ten seconds.
 */
export const upstreamFiles = (dir: string, isShort: boolean): Case => ({
  name: "upstream's examples beside each other, unmodified, as upstream documents them",
  run: (scene) =>
    running(scene, async () => {
      await kubectl(scene.cluster, ["create", "configmap", "test-configmap", "--from-literal=a=b"]);
      const first = isShort ? [] : await wave(scene, dir, ofMain);
      const second = await wave(scene, dir, together);
      if (!isShort) await cleared(scene, afterwards);
      return [...first, ...second, ...(await wave(scene, dir, afterwards))];
    }),
});
