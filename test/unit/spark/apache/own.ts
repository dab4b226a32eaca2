/** Applications of `spark.apache.org` whose executors Rekindle creates, on a stand. */
import { isRecord } from "../../../../shared/core/json.ts";
import type { DriverScript } from "../../../../shared/simulator/nodes/script.ts";
import type { Fields } from "./fixtures.ts";
import { openStand, type Stand } from "./stand.ts";

export const own = { "rekindle.dev/executors": "own" } as const;

export const confs = {
  "spark.kubernetes.container.image": "x",
  "spark.executor.instances": "2",
  "spark.authenticate": "false",
} as const;

type Given = {
  readonly annotations?: Fields;
  readonly spec?: Fields;
  readonly sparkConf?: Fields;
  /** All confs, in the place of the usual ones. */
  readonly whole?: Fields;
  readonly script?: DriverScript;
  readonly scripts?: readonly DriverScript[];
};

export const openOwn = ({ annotations = {}, spec = {}, sparkConf = {}, whole, script, scripts }: Given = {}): Stand =>
  openStand({
    metadata: { annotations: { ...own, ...annotations } },
    spec: { sparkConf: whole ?? { ...confs, ...sparkConf }, ...spec },
    scripts: scripts ?? [script ?? { hangs: true }],
  });

const executorsIn = ({ simulator }: Stand) =>
  simulator.store.list("pods").filter(({ metadata: { labels } }) => labels?.["spark-role"] === "executor");

/** The ids of the executors' pods. */
export const idsIn = (stand: Stand): readonly string[] =>
  executorsIn(stand)
    .flatMap(({ metadata: { labels } }) => labels?.["spark-exec-id"] ?? [])
    .toSorted();

/** The ids of those that have not ended. */
export const livingIn = (stand: Stand): readonly string[] =>
  executorsIn(stand)
    .filter(({ status, metadata }) => {
      const phase = isRecord(status) ? status["phase"] : undefined;
      return phase !== "Succeeded" && phase !== "Failed" && metadata.deletionTimestamp === undefined;
    })
    .flatMap(({ metadata: { labels } }) => labels?.["spark-exec-id"] ?? [])
    .toSorted();

/** The messages of the Events with this reason. */
export const tellsOf = ({ simulator }: Stand, reason: string): readonly string[] =>
  simulator.store
    .list("events")
    .filter((event) => event["reason"] === reason)
    .map((event) => String(event["message"]));
