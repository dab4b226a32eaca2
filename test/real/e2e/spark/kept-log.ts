/** The end of a real driver's log, after its pod is deleted for a retry, as the built command line shows it. */

import { sparkPi } from "../../../support/pi.ts";
import { openPackage } from "../../../unit/cli/built.ts";
import { patienceMs } from "../../cluster/api.ts";
import { type Case, kubectl, must, running } from "../scene.ts";
import { awaitState, driverLog } from "../witness.ts";

const applications = "/apis/sparkoperator.k8s.io/v1beta2/namespaces/default/sparkapplications";
const records = "/apis/rekindle.dev/v1alpha1/namespaces/default/checkpoints";
const name = "kept-log";

const logsIn = async ({ cluster }: Parameters<Case["run"]>[0]): Promise<boolean> =>
  (await cluster.api.call("GET", `${records}/logs.sparkapplication.${name}`)).status === 200;

/** A class that is missing: each driver fails a few seconds after its start. */
const missing = "org.apache.spark.examples.Missing";

export const keepsLogs: Case = {
  name: "a driver fails twice: the end of its first log is kept, shown by rekindle log --attempt, and deleted with the application",
  run: async (scene) => {
    const { api } = scene.cluster;
    const pack = await openPackage();
    const work = async (): Promise<readonly string[]> => {
      const restartPolicy = { type: "OnFailure", onFailureRetries: 1, onFailureRetryInterval: 1 };
      const body = sparkPi(name, { mainClass: missing, restartPolicy });
      const { status } = await api.call("POST", applications, body);
      must(status === 201, `${name} is not created`);
      await awaitState(api, name, ["FAILED"], patienceMs);
      const built = pack.at(scene.kubeconfig);
      const list = await built.run(["log", name, "-n", "default", "--attempt"]);
      must(/^ATTEMPT.*\n1 .*$/.test(list.out.trim()), `the list of kept logs is ${list.out}${list.err}`);
      const kept = await built.run(["log", name, "-n", "default", "--attempt", "1"]);
      must(kept.out.includes(missing), `the log of attempt 1 is ${kept.out.slice(-300)}${kept.err}`);
      const second = await built.run(["log", name, "-n", "default", "--attempt", "2"]);
      const living = (await driverLog(api, `${name}-driver`)).trimEnd();
      must(second.out.trimEnd() === living, "the log of attempt 2 is not its driver's");
      await kubectl(scene.cluster, ["delete", "sparkapplication", name, "--wait"]);
      const began = performance.now();
      while (await logsIn(scene)) must(performance.now() - began < 60_000, "logs are left of a deleted application");
      return [`${Buffer.byteLength(kept.out)} bytes kept of the first attempt`];
    };
    try {
      return await running(scene, work, ["--keep-driver-logs", "1h"]);
    } finally {
      pack.remove();
      await kubectl(scene.cluster, ["delete", "sparkapplication", name, "--ignore-not-found"]);
    }
  },
};
