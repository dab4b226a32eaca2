/** Upstream's own end-to-end rows with a host that lives: the states in their order, the objects that each row names. */
import { setTimeout as sleep } from "node:timers/promises";
import { patienceMs } from "../../cluster/api.ts";
import { type Case, kubectl, must, pi, running, type Scene } from "../scene.ts";
import { caseFile, created, hostArgs, plural, upstreamManifest } from "./applications.ts";
import { type Book, currentOf, openBook, type Page } from "./book.ts";
import { keptLog, mustBeGone, mustHaveLived, podOf, started } from "./judgements.ts";

/** Runs `work` beside a host and a record of all applications. */
const recorded = (scene: Scene, work: (book: Book) => Promise<readonly string[]>): Promise<readonly string[]> =>
  running(
    scene,
    async () => {
      const book = openBook(scene.cluster.api);
      try {
        return await work(book);
      } finally {
        await book.stop();
      }
    },
    hostArgs,
  );

const endsAs = (summary: string) => (page: Page) => currentOf(page) === summary;

/** Deletes the application: it is gone within upstream's limit, and all its objects with it. */
const deleted = async (scene: Scene, name: string): Promise<void> => {
  await kubectl(scene.cluster, ["delete", plural, name, "--wait", "--timeout=30s"]);
  await mustBeGone(scene, name);
};

/** E1. */
const succeeds = async (scene: Scene, book: Book, dir: string): Promise<string> => {
  const name = "spark-job-succeeded-test";
  await created(
    scene,
    await upstreamManifest(caseFile(dir, "state-transition", "spark-example-succeeded.yaml"), "4.1.1"),
  );
  const page = await book.until(name, "released", endsAs("ResourceReleased"), patienceMs);
  const line = mustHaveLived(name, page, { states: [...started, "Succeeded", "ResourceReleased"] });
  await mustBeGone(scene, name, { withRecord: false });
  const said = pi.exec(await keptLog(scene, podOf(page, "driver")))?.[0];
  must(said !== undefined, `${name}: its driver's log does not say that Pi is roughly 3`);
  await deleted(scene, name);
  return `${line}; "${said}"`;
};

/** E3. */
const timesOut = async (scene: Scene, book: Book, dir: string): Promise<string> => {
  const name = "spark-example-driver-start-timeout";
  await created(scene, await upstreamManifest(caseFile(dir, "driver-start-timeout", `${name}.yaml`), "4.1.1"));
  const page = await book.until(name, "released", endsAs("ResourceReleased"), patienceMs);
  const line = mustHaveLived(name, page, {
    states: ["Submitted", "DriverRequested", "DriverStartTimedOut", "ResourceReleased"],
  });
  const [requested, ended] = [page.history.get(1), page.history.get(2)];
  const ms = Date.parse(ended?.lastTransitionTime ?? "") - Date.parse(requested?.lastTransitionTime ?? "");
  must(ms > 30_000 && ms < 45_000, `${name} timed out after ${ms} ms, and its timer is 30 s`);
  must(ended?.lastObservedDriverStatus !== undefined, `${name}: the end shows no status of its driver`);
  await deleted(scene, name);
  return line;
};

const timeOf = (page: Page, summary: string): number => {
  const found = [...page.history.values()].find(({ currentStateSummary }) => currentStateSummary === summary);
  return Date.parse(found?.lastTransitionTime ?? "");
};

/** E4. */
const retains = async (scene: Scene, book: Book, dir: string): Promise<string> => {
  const name = "spark-example-retain-duration";
  await created(scene, await upstreamManifest(caseFile(dir, "resource-retain-duration", `${name}.yaml`), "4.1.1"));
  const page = await book.until(name, "gone", ({ gone, last }) => gone && last !== undefined, patienceMs);
  const goneAt = Date.now();
  const line = mustHaveLived(name, page, {
    states: [...started, "Succeeded", "TerminatedWithoutReleaseResources", "ResourceReleased"],
  });
  const keptAt = timeOf(page, "TerminatedWithoutReleaseResources");
  const kept = page.driverSeenAt - keptAt;
  must(kept > 8_000 && kept < 30_000, `${name}: its driver was there for ${kept} ms after its end, not for 10 s`);
  const after = goneAt - keptAt;
  must(after > 29_000 && after < 90_000, `${name}: it was deleted ${after} ms after its end, not after 30 s`);
  await mustBeGone(scene, name);
  return `${line}; its driver was kept for ${Math.round(kept / 1_000)} s, and it for ${Math.round(after / 1_000)} s`;
};

/** E5. */
const keepsFailed = async (scene: Scene, book: Book, dir: string): Promise<string> => {
  const name = "spark-example-retain-on-failure";
  await created(scene, await upstreamManifest(caseFile(dir, "resource-retain-on-failure", `${name}.yaml`), "4.1.1"));
  const page = await book.until(name, "kept", endsAs("TerminatedWithoutReleaseResources"), patienceMs);
  const line = mustHaveLived(name, page, {
    states: [...started, "Failed", "TerminatedWithoutReleaseResources"],
  });
  await sleep(3_000);
  const phase = await kubectl(scene.cluster, ["get", "pod", `${name}-0-driver`, "-o", "jsonpath={.status.phase}"]);
  must(phase === "Failed", `${name}: its driver is ${phase}`);
  const failed = [...page.history.values()].find(({ currentStateSummary }) => currentStateSummary === "Failed");
  must(
    JSON.stringify(failed?.lastObservedDriverStatus).includes('"exitCode"'),
    `${name}: its end shows no exit code of its driver`,
  );
  await deleted(scene, name);
  return line;
};

/** The rows that end by themselves, beside each other. */
export const endingRows = (dir: string): Case => ({
  name: "upstream's rows E1, E3, E4, E5: an end, a start that times out, objects that are kept for a time, and after a failure",
  run: (scene) =>
    recorded(scene, async (book) => [
      ...(await Promise.all([succeeds(scene, book, dir), timesOut(scene, book, dir)])),
      ...(await Promise.all([retains(scene, book, dir), keepsFailed(scene, book, dir)])),
    ]),
});

type Lasting = {
  readonly name: string;
  readonly sparkVersion: string;
  readonly manifest: (version: string) => Promise<string>;
};

/** A driver and an executor of a running application are as upstream's assertions say. */
const lasts = async (scene: Scene, book: Book, { name, sparkVersion, manifest }: Lasting): Promise<string> => {
  await created(scene, await manifest(sparkVersion));
  const executorRuns = ({ pods }: Page): boolean =>
    [...pods.values()].some(
      ({ metadata, status }) =>
        status.phase === "Running" &&
        metadata.labels["spark-role"] === "executor" &&
        metadata.labels["spark-version"] === sparkVersion,
    );
  const page = await book.until(name, `running with an executor of ${sparkVersion}`, executorRuns, patienceMs);
  await book.until(name, "healthy", endsAs("RunningHealthy"), 30_000);
  const { metadata, spec, status } = podOf(page, "driver");
  must(metadata.name === `${name}-0-driver` && status.phase === "Running", `${metadata.name} is ${status.phase}`);
  must(metadata.labels["spark-app-name"] === "spark", `its driver's app is ${metadata.labels["spark-app-name"]}`);
  must(
    spec.volumes.some((one) => one.name === "spark-conf-volume-driver" && one.configMap !== undefined),
    `${name}: its driver mounts no ConfigMap of confs`,
  );
  await kubectl(scene.cluster, ["get", "configmap", `${name}-0-spark-drv-conf-map`]);
  const line = mustHaveLived(name, page, { states: started });
  await deleted(scene, name);
  return `${line}; a driver and an executor of Spark ${sparkVersion} were deleted with it`;
};

const dashed = (version: string): string => version.replaceAll(".", "-");
const underscored = (version: string): string => `v${version.replaceAll(".", "_")}`;

/** E6. The set-up has no class of upstream's streaming example: the lane's own job goes on until it is deleted, too. */
const scala = (dir: string, sparkVersion: string): Lasting => {
  const name = `spark-streaming-${dashed(sparkVersion)}-2-13`;
  const bindings = {
    SPARK_APPLICATION_NAME: name,
    IMAGE: `apache/spark:${sparkVersion}-scala-java17`,
    JARS: `local:///opt/spark/examples/jars/spark-examples_2.13-${sparkVersion}.jar`,
    V_SPARK_VERSION: underscored(sparkVersion),
    V_JAVA_VERSION: "Java17",
  };
  return {
    ...{ name, sparkVersion },
    manifest: async (version) =>
      (await upstreamManifest(caseFile(dir, "spark-versions", "spark-example.yaml"), version, bindings))
        .replace("org.apache.spark.examples.streaming.CustomReceiver", "dev.rekindle.Rounds")
        .replace('["localhost", "9999"]', '["/nowhere", "0", "2", "50"]'),
  };
};

/** E7. */
const python = (dir: string, sparkVersion: string): Lasting => {
  const name = `pyspark-${dashed(sparkVersion)}`;
  const bindings = {
    SPARK_APPLICATION_NAME: name,
    IMAGE: `apache/spark:${sparkVersion}-python3`,
    V_SPARK_VERSION: underscored(sparkVersion),
  };
  return {
    ...{ name, sparkVersion },
    manifest: (version) => upstreamManifest(caseFile(dir, "python", "pyspark-example.yaml"), version, bindings),
  };
};

/** The rows of one version that run until they are deleted. */
export const lastingRows = (dir: string, sparkVersion: string): Case => ({
  name: `upstream's rows E6 and E7 with Spark ${sparkVersion}: a driver and an executor, by its jar and by Python files`,
  run: (scene) =>
    recorded(scene, (book) =>
      Promise.all([scala(dir, sparkVersion), python(dir, sparkVersion)].map((one) => lasts(scene, book, one))),
    ),
});
