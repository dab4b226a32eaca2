/**
 * An application that is suspended in mid-run and resumed: a second attempt, and no object of the first remains in
 * between.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { patienceMs } from "../../cluster/api.ts";
import { type Case, kubectl, must, onlyOneDriver, pi, running, type Scene } from "../scene.ts";
import { awaitState, driverLog, observe } from "../witness.ts";

const name = "spark-pi-long";
const manifest = join(import.meta.dirname, "..", "manifests", `${name}.yaml`);

const suspend = ({ cluster }: Scene, value: boolean): Promise<string> => {
  const patch = JSON.stringify({ spec: { suspend: value } });
  return kubectl(cluster, ["patch", "sparkapplication", name, "--type=merge", "-p", patch]);
};

export const suspendedAndResumed: Case = {
  name: "suspended in mid-run and resumed: one more attempt, to the right end",
  run: (scene) =>
    running(scene, async () => {
      const { cluster } = scene;
      const witness = observe(cluster.api, name);
      try {
        await kubectl(cluster, ["apply", "-f", manifest]);
        await awaitState(cluster.api, name, ["RUNNING"], patienceMs);
        await suspend(scene, true);
        await awaitState(cluster.api, name, ["SUSPENDED"], patienceMs);
        await sleep(2_000);
        const left = await kubectl(cluster, [
          "get",
          "pods",
          "-l",
          `sparkoperator.k8s.io/app-name=${name}`,
          "-o",
          "name",
        ]);
        must(left === "", `while suspended there are ${left}`);
        await suspend(scene, false);
        const app = await awaitState(cluster.api, name, ["COMPLETED", "FAILED"], patienceMs);
        must(app.status?.applicationState?.state === "COMPLETED", `ended ${JSON.stringify(app.status)}`);
        must(app.status?.executionAttempts === 2, `${app.status?.executionAttempts} executions, expected 2`);
        must(pi.test(await driverLog(cluster.api, app.status?.driverInfo?.podName ?? "")), "its log does not say Pi");
        onlyOneDriver(witness, 2);
        return [witness.states().join(" → ")];
      } finally {
        await witness.stop();
        await kubectl(cluster, ["delete", "sparkapplication", name, "--ignore-not-found"]);
      }
    }),
};
