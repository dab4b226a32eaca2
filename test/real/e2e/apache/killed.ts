/** Applications of `spark.apache.org` while the host is killed again and again, or by functions that are. */
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { sparkPi } from "../../../support/pi.ts";
import { patienceMs } from "../../cluster/api.ts";
import { byFunctions } from "../dispatch/fixture.ts";
import { killing } from "../killing.ts";
import { type Case, kubectl, must, running, type Scene } from "../scene.ts";
import { awaitState } from "../witness.ts";
import { apachePi, created, finalizer, hostArgs, plural } from "./applications.ts";
import { type Book, currentOf, openBook, type Page } from "./book.ts";
import { mustBeGone, mustHaveLived, mustSayPi, podOf, started } from "./judgements.ts";

const again = (more: object = {}) => ({
  applicationTolerations: { restartConfig: { maxRestartAttempts: 1, restartBackoffMillis: 1_000, ...more } },
});

const isOver = (page: Page): boolean =>
  ["ResourceReleased", "TerminatedWithoutReleaseResources"].includes(currentOf(page));

/** Two executors and thresholds of them, beside an application of the other API group that has its name. */
const long = async (scene: Scene, book: Book): Promise<string> => {
  const name = "spark-pi";
  await created(
    scene,
    apachePi(name, "4.1.1", {
      driverArgs: ["3000"],
      sparkConf: { "spark.executor.instances": "2" },
      applicationTolerations: { instanceConfig: { initExecutors: 2, minExecutors: 1, maxExecutors: 2 } },
    }),
  );
  await created(scene, sparkPi(name, { arguments: ["500"] }));
  const page = await book.until(name, "over", isOver, patienceMs);
  await awaitState(scene.cluster.api, name, ["COMPLETED"], patienceMs);
  const running = ["Submitted", "DriverRequested", "DriverStarted", "DriverReady", "executors"];
  const line = mustHaveLived(name, page, { states: [...running, "Succeeded", "ResourceReleased"] });
  await mustSayPi(scene, name, page);
  return `${line}; its namesake of sparkoperator.k8s.io COMPLETED`;
};

const counters = { id: 1, restartCounter: 1, failureRestartCounter: 1, schedulingFailureRestartCounter: 0 };

/** Each driver fails at once; the numbers of states go on over both attempts. */
const fails = async (scene: Scene, book: Book, name = "fails"): Promise<string> => {
  await created(
    scene,
    apachePi(name, "4.0.4", { driverArgs: ["not-a-number"], ...again({ restartPolicy: "OnFailure" }) }),
  );
  const page = await book.until(name, "over", isOver, patienceMs);
  const failed = ["DriverRequested", "…", "Failed"];
  const line = mustHaveLived(name, page, {
    states: ["Submitted", ...failed, "ScheduledToRestart", ...failed, "ResourceReleased"],
    attempts: 2,
  });
  const shown = page.last?.status?.currentAttemptSummary?.attemptInfo;
  must(isDeepStrictEqual(shown, counters), `${name}: its counters are ${JSON.stringify(shown)}`);
  await mustBeGone(scene, name, { withRecord: false });
  return line;
};

/** A user deletes the driver of the first attempt; the second one succeeds. */
const loses = async (scene: Scene, book: Book): Promise<string> => {
  const name = "loses";
  await created(scene, apachePi(name, "4.1.1", { driverArgs: ["200"], ...again({ restartPolicy: "OnFailure" }) }));
  await book.until(name, "healthy", (page) => currentOf(page) === "RunningHealthy", patienceMs);
  await kubectl(scene.cluster, ["delete", "pod", `${name}-0-driver`, "--wait=false"]);
  const page = await book.until(name, "over", isOver, patienceMs);
  const line = mustHaveLived(name, page, {
    states: [...started, "Failed", "ScheduledToRestart", ...started.slice(1), "Succeeded", "ResourceReleased"],
    attempts: 2,
  });
  await mustSayPi(scene, name, page);
  return line;
};

/** Every driver succeeds and is restarted; the last one is kept. */
const repeats = async (scene: Scene, book: Book): Promise<string> => {
  const name = "repeats";
  const { applicationTolerations } = again({ restartPolicy: "Always" });
  await created(
    scene,
    apachePi(name, "4.0.4", {
      driverArgs: ["100"],
      applicationTolerations: { ...applicationTolerations, resourceRetainPolicy: "Always" },
    }),
  );
  const page = await book.until(name, "over", isOver, patienceMs);
  const succeeded = [...started.slice(1), "Succeeded"];
  const line = mustHaveLived(name, page, {
    states: ["Submitted", ...succeeded, "ScheduledToRestart", ...succeeded, "TerminatedWithoutReleaseResources"],
    attempts: 2,
  });
  const phase = await kubectl(scene.cluster, ["get", "pod", `${name}-1-driver`, "-o", "jsonpath={.status.phase}"]);
  must(phase === "Succeeded", `${name}: its last driver is ${phase}`);
  await mustSayPi(scene, name, page);
  return line;
};

/** The host is killed at random moments, at least so many times over all of them. */
export const killedHosts = (least: number): Case => ({
  name: `thresholds, restarts, a lost driver, kept objects, and a namesake of the other group; the host is killed ≥ ${least} times`,
  run: async (scene) => {
    const killer = killing(scene, hostArgs);
    const book = openBook(scene.cluster.api);
    try {
      const first = await killer.during(Promise.all([long(scene, book), fails(scene, book)]));
      const second = await killer.during(Promise.all([loses(scene, book), repeats(scene, book)]));
      while (killer.kills() < least) await sleep(200);
      const names = ["spark-pi", "fails", "loses", "repeats"];
      await kubectl(scene.cluster, ["delete", plural, ...names, "--wait", "--timeout=60s"]);
      for (const name of names) await mustBeGone(scene, name);
      await kubectl(scene.cluster, ["delete", "sparkapplications.sparkoperator.k8s.io", "spark-pi"]);
      return [...first, ...second, `${killer.kills()} kills`];
    } finally {
      await killer.stop();
      await book.stop();
    }
  },
});

/**
 * While no host runs, the record of one application is deleted, and another application itself, which has the finalizer of
 * upstream's operator: the next host goes on with the driver of the first, and ends the deletion of the second.
 */
export const taken: Case = {
  name: "a running application whose record is lost keeps its driver, and the deletion of one that upstream had seen ends",
  run: async (scene) => {
    const { cluster } = scene;
    const book = openBook(cluster.api);
    const names = ["kept", "left"];
    try {
      await running(
        scene,
        async (host) => {
          for (const name of names) {
            const app = apachePi(name, "4.1.1", { driverArgs: ["1500"] });
            await created(scene, { ...app, metadata: { ...app.metadata, finalizers: [finalizer] } });
          }
          for (const name of names)
            await book.until(name, "healthy", (page) => currentOf(page) === "RunningHealthy", patienceMs);
          await host.kill();
        },
        hostArgs,
      );
      await kubectl(cluster, ["delete", "checkpoints.rekindle.dev", "apachesparkapplication.kept"]);
      await kubectl(cluster, ["delete", plural, "left", "--wait=false"]);
      return await running(
        scene,
        async () => {
          await book.until("left", "gone", ({ gone }) => gone, patienceMs);
          await mustBeGone(scene, "left");
          const page = await book.until("kept", "over", isOver, patienceMs);
          const line = mustHaveLived("kept", page, { states: [...started, "Succeeded", "ResourceReleased"] });
          await mustSayPi(scene, "kept", page);
          await kubectl(cluster, ["delete", plural, "kept", "--wait", "--timeout=60s"]);
          return [line, `left: deleted with ${podOf(book.of("left"), "driver").metadata.name}`];
        },
        hostArgs,
      );
    } finally {
      await book.stop();
    }
  },
};

/** Without a host: a dispatcher calls functions, all of which are killed. */
export const byKilledFunctions: Case = {
  name: "by functions: an application ends, and another fails twice, while the dispatcher and its functions are killed",
  run: async (scene) => {
    const book = openBook(scene.cluster.api);
    const succeeds = async (): Promise<string> => {
      const name = "functional";
      await created(scene, apachePi(name, "4.1.1", { driverArgs: ["500"] }));
      const page = await book.until(name, "over", isOver, patienceMs);
      const line = mustHaveLived(name, page, {
        states: ["Submitted", "DriverRequested", "…", "Succeeded", "ResourceReleased"],
      });
      await mustSayPi(scene, name, page);
      return line;
    };
    try {
      return await byFunctions(scene, { REKINDLE_FAMILIES: "spark,volcano,apache" }, async () => {
        await kubectl(scene.cluster, ["delete", plural, "--all", "--wait", "--timeout=60s"]);
        const lines = await Promise.all([succeeds(), fails(scene, book, "fails-too")]);
        await kubectl(scene.cluster, ["delete", plural, "--all", "--wait", "--timeout=60s"]);
        for (const name of ["functional", "fails-too"]) await mustBeGone(scene, name, { withinMs: 300_000 });
        return lines;
      });
    } finally {
      await book.stop();
    }
  },
};
