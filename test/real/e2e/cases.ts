/**
 * The cases of the end-to-end lane: upstream's examples unmodified, and an application whose host is killed repeatedly.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { patienceMs } from "../cluster/api.ts";
import { killing } from "./killing.ts";
import { type Case, kubectl, must, onlyOneDriver, pi, running, type Scene } from "./scene.ts";
import { awaitState, driverLog, observe, stateOf } from "./witness.ts";

const own = join(import.meta.dirname, "manifests");

/** Waits until upstream's example is COMPLETED, and checks its driver's log and its status. */
const example = async (scene: Scene, name: string): Promise<string> => {
  const { cluster } = scene;
  const witness = observe(cluster.api, name);
  try {
    const app = await awaitState(cluster.api, name, ["COMPLETED", "FAILED"], patienceMs);
    must(stateOf(app) === "COMPLETED", `${name} ended ${stateOf(app)}: ${JSON.stringify(app.status)}`);
    const said = pi.exec(await driverLog(cluster.api, app.status?.driverInfo?.podName ?? ""));
    must(said !== null, `${name}: its driver's log does not say that Pi is roughly 3`);
    onlyOneDriver(witness, 1);
    must(app.status?.executionAttempts === 1, `${name}: ${app.status?.executionAttempts} executions`);
    return `${name}: ${witness.states().join(" → ")}; "${said?.[0]}"`;
  } finally {
    await witness.stop();
  }
};

const names = ["spark-pi", "spark-pi-python", "spark-pi-configmap"];

/** Applies all three examples at once, as a team would. */
export const upstreamExamples = (dir: string): Case => ({
  name: `upstream's ${names.join(", ")}, unmodified`,
  run: (scene) =>
    running(scene, async () => {
      await kubectl(scene.cluster, ["create", "configmap", "test-configmap", "--from-literal=a=b"]);
      const files = names.flatMap((name) => ["-f", join(dir, `${name}.yaml`)]);
      scene.say((await kubectl(scene.cluster, ["apply", ...files])).trim());
      return await Promise.all(names.map((name) => example(scene, name)));
    }),
});

/** Kills the host by SIGKILL at random moments, from before the application exists until it has completed. */
export const killedHost = (least: number): Case => ({
  name: `host killed by SIGKILL at ≥ ${least} random moments`,
  run: async (scene) => {
    const { cluster } = scene;
    const name = "spark-pi-long";
    const killer = killing(scene);
    const witness = observe(cluster.api, name);
    try {
      await kubectl(cluster, ["apply", "-f", join(own, "spark-pi-long.yaml")]);
      const app = await killer.during(awaitState(cluster.api, name, ["COMPLETED", "FAILED"], patienceMs));
      must(stateOf(app) === "COMPLETED", `ended ${stateOf(app)}: ${JSON.stringify(app.status)}`);
      while (killer.kills() < least) await sleep(200);
      must((await awaitState(cluster.api, name, ["COMPLETED"], 1_000)).status?.executionAttempts === 1, "ran twice");
      must(pi.test(await driverLog(cluster.api, `${name}-driver`)), "the driver's log does not say Pi");
      onlyOneDriver(witness, 1);
      const executors = Object.values(app.status?.executorState ?? {});
      return [`${killer.kills()} kills; ${witness.states().join(" → ")}; executors ${executors.join(", ")}`];
    } finally {
      await killer.stop();
      await witness.stop();
    }
  },
});

/** Checks that a failing application is retried by its policy while its host is killed repeatedly. */
export const killedRetries: Case = {
  name: "OnFailure: two attempts under a host that is killed, then FAILED",
  run: async (scene) => {
    const { cluster } = scene;
    const name = "spark-fails";
    const killer = killing(scene);
    const witness = observe(cluster.api, name);
    try {
      await kubectl(cluster, ["apply", "-f", join(own, "spark-fails.yaml")]);
      const app = await killer.during(awaitState(cluster.api, name, ["COMPLETED", "FAILED"], patienceMs));
      must(stateOf(app) === "FAILED", `ended ${stateOf(app)}`);
      must(app.status?.executionAttempts === 2, `${app.status?.executionAttempts} executions, expected 2`);
      onlyOneDriver(witness, 2);
      const error = app.status?.applicationState?.errorMessage ?? "";
      must(/ExitCode: \d+/.test(error), `errorMessage is "${error}"`);
      return [`${killer.kills()} kills; ${witness.states().join(" → ")}; ${error}`];
    } finally {
      await killer.stop();
      await witness.stop();
    }
  },
};

/** Deletes an application in mid-run while no host runs; no object that Rekindle owned remains. */
export const deletedUnseen: Case = {
  name: "deleted mid-run while no host lived: nothing is left",
  run: async (scene) => {
    const { cluster } = scene;
    const name = "spark-pi-long";
    await kubectl(cluster, ["delete", "sparkapplication", name, "--ignore-not-found"]);
    await running(scene, async (host) => {
      await kubectl(cluster, ["apply", "-f", join(own, "spark-pi-long.yaml")]);
      await awaitState(cluster.api, name, ["RUNNING"], patienceMs);
      await host.kill();
    });
    await kubectl(cluster, ["delete", "sparkapplication", name]);
    return await running(scene, async () => {
      const left = async (): Promise<string> =>
        (await kubectl(cluster, ["get", "pods,services,configmaps,checkpoints.rekindle.dev", "-o", "name"]))
          .split("\n")
          .filter((line) => line.includes(name))
          .join(" ");
      const until = performance.now() + 120_000;
      let rest = await left();
      while (rest !== "" && performance.now() < until) {
        await sleep(500);
        rest = await left();
      }
      must(rest === "", `left behind: ${rest}`);
      return ["pods, services, config maps and the checkpoint are gone"];
    });
  },
};
