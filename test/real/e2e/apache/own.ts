/** An application of `spark.apache.org` whose executors Rekindle creates: lost ones are replaced while the host is killed. */

import { patienceMs } from "../../cluster/api.ts";
import { killing } from "../killing.ts";
import { type Case, kubectl, must } from "../scene.ts";
import { apachePi, created, hostArgs, plural } from "./applications.ts";
import { currentOf, openBook, type Page, type Pod } from "./book.ts";
import { mustBeGone, mustHaveLived, mustSayPi, started } from "./judgements.ts";

const name = "own";
/** Ids of Rekindle's executors begin after those of any driver. */
const ownName = new RegExp(`^${name}-.*-exec-1\\d{3}$`);

const executorsIn = (page: Page): readonly Pod[] =>
  [...page.pods.values()].filter(({ metadata }) => metadata.labels["spark-role"] === "executor");

/** True while two executors run beside the one of this name, whose last phase may have been any. */
const twoRun = (page: Page, beside?: string): boolean =>
  executorsIn(page).filter(({ metadata, status }) => metadata.name !== beside && status.phase === "Running").length >=
  2;

/** The host is killed at random moments, at least so many times. */
export const ownExecutors = (least: number): Case => ({
  name: `Rekindle creates the executors and replaces a deleted one, with the same driver; the host is killed ≥ ${least} times`,
  run: async (scene) => {
    const killer = killing(scene, hostArgs, 15_000);
    const book = openBook(scene.cluster.api);
    const loseOne = async (): Promise<string> => {
      const page = await book.until(name, "running with two executors", (one) => twoRun(one), patienceMs);
      const lost = executorsIn(page)[0]?.metadata.name ?? "";
      await kubectl(scene.cluster, ["delete", "pod", lost, "--wait=false"]);
      await book.until(name, `running with two executors beside ${lost}`, (one) => twoRun(one, lost), patienceMs);
      return lost;
    };
    try {
      const app = apachePi(name, "4.1.1", {
        driverArgs: ["4000"],
        sparkConf: { "spark.executor.instances": "2", "spark.authenticate": "false" },
      });
      const annotations = { "rekindle.dev/executors": "own" };
      await created(scene, { ...app, metadata: { ...app.metadata, annotations } });
      const lost = await killer.during(loseOne());
      const over = book.until(name, "over", (one) => currentOf(one) === "ResourceReleased", patienceMs);
      const page = await killer.during(over);
      const line = mustHaveLived(name, page, { states: [...started, "Succeeded", "ResourceReleased"] });
      const names = executorsIn(page).map(({ metadata }) => metadata.name);
      must(new Set(names).size === names.length, `two executors had one name: ${names.join(", ")}`);
      must(
        names.every((one) => ownName.test(one)),
        `the driver created executors: ${names.join(", ")}`,
      );
      await mustSayPi(scene, name, page);
      must(killer.kills() >= least, `the host was killed ${killer.kills()} times only`);
      await kubectl(scene.cluster, ["delete", plural, name, "--wait", "--timeout=60s"]);
      await mustBeGone(scene, name);
      return [line, `${lost} was replaced: ${names.join(", ")}`, `${killer.kills()} kills`];
    } finally {
      await killer.stop();
      await book.stop();
    }
  },
});
