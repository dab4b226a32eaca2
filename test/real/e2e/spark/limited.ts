/** The fields that only admission can write, on the executors that a real driver's allocator creates. */

import { sparkPi } from "../../../support/pi.ts";
import { patienceMs } from "../../cluster/api.ts";
import { isAsked, until } from "../admission/rules.ts";
import { admissionByUrl, installAdmission } from "../installed.ts";
import { type Case, kubectl, must, pi, running } from "../scene.ts";
import { driverLog } from "../witness.ts";
import { awaitEnd, openLedger } from "./ledger.ts";

const name = "spark-pi-limited";

const applications = "/apis/sparkoperator.k8s.io/v1beta2/namespaces/default/sparkapplications";

export const limitsExecutors: Case = {
  name: "executor.memoryLimit stands on every executor that a real driver makes, under admission",
  run: async (scene) => {
    const { cluster } = scene;
    await installAdmission(cluster);
    const work = async (): Promise<readonly string[]> => {
      await until("the API server asks admission", () => isAsked(scene));
      const ledger = openLedger(cluster.api);
      try {
        const executor = { instances: 2, cores: 1, memory: "512m", memoryLimit: "1200m" };
        await cluster.api.call("POST", applications, sparkPi(name, { executor }));
        const page = ledger.of(name);
        await ledger.during(awaitEnd(page, patienceMs));
        must(page.states.at(-1) === "COMPLETED", `ended ${JSON.stringify(page.last?.status)}`);
        const memory = [...page.pods.values()].map(({ metadata: { labels }, spec: { containers } }) => {
          const { requests, limits } = containers[0]?.resources ?? { requests: {}, limits: {} };
          return `${labels["spark-role"]} ${requests["memory"]} of ${limits["memory"]}`;
        });
        const wanted = ["driver 896Mi of 896Mi", "executor 896Mi of 1200Mi"];
        const seen = [...new Set(memory)].sort();
        must(JSON.stringify(seen) === JSON.stringify(wanted), `memory: ${memory.join(", ")}`);
        must(pi.test(await driverLog(cluster.api, `${name}-driver`)), "its log does not say Pi");
        return [`${memory.length - 1} executors, each ${wanted[1]?.slice("executor ".length)}`];
      } finally {
        await ledger.stop();
        await kubectl(cluster, ["delete", "sparkapplication", name, "--ignore-not-found"]);
      }
    };
    try {
      return await running(scene, work, admissionByUrl);
    } finally {
      const both = "mutatingwebhookconfiguration,validatingwebhookconfiguration";
      await kubectl(cluster, ["delete", both, "rekindle", "--ignore-not-found"]);
    }
  },
};
