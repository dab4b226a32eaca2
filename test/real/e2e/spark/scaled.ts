/** Dynamic allocation scales up from one executor while there is work for more, as Spark itself requests. */
import { join } from "node:path";
import { patienceMs } from "../../cluster/api.ts";
import { type Case, kubectl, must, pi, running } from "../scene.ts";
import { driverLog } from "../witness.ts";
import { awaitEnd, openLedger } from "./ledger.ts";

const name = "spark-pi-scales";
const manifest = join(import.meta.dirname, "..", "manifests", `${name}.yaml`);

export const scalesUp: Case = {
  name: "dynamic allocation scales from one executor to three while there is work",
  run: (scene) =>
    running(scene, async () => {
      const { cluster } = scene;
      const ledger = openLedger(cluster.api);
      try {
        await kubectl(cluster, ["apply", "-f", manifest]);
        const page = ledger.of(name);
        await ledger.during(awaitEnd(page, patienceMs));
        must(page.states.at(-1) === "COMPLETED", `ended ${JSON.stringify(page.last?.status)}`);
        must(page.mostExecutors === 3, `${page.mostExecutors} executors at most, expected 3`);
        must(page.mostDrivers === 1 && page.drivers.size === 1, "more than one driver");
        must(pi.test(await driverLog(cluster.api, `${name}-driver`)), "its log does not say Pi");
        return [`${page.mostExecutors} executors at most; ${page.states.join(" → ")}`];
      } finally {
        await ledger.stop();
        await kubectl(cluster, ["delete", "sparkapplication", name, "--ignore-not-found"]);
      }
    }),
};
