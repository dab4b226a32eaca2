/** Reads the event log that a driver has written: the stages that it computed, computed again, and skipped. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";

/** Confs of a driver that writes its event log as one readable file into a folder. */
export const eventLogIn = (path: string): Readonly<Record<string, string>> => ({
  "spark.eventLog.enabled": "true",
  "spark.eventLog.dir": `file://${path}`,
  "spark.eventLog.rolling.enabled": "false",
  "spark.eventLog.compress": "false",
});

const stageInfo = z.looseObject({ "Stage ID": z.number(), "Stage Attempt ID": z.number() });
const line = z.union([
  z.looseObject({ Event: z.literal("SparkListenerJobStart"), "Stage Infos": z.array(stageInfo) }),
  z.looseObject({ Event: z.literal("SparkListenerStageSubmitted"), "Stage Info": stageInfo }),
]);

export type StageCounts = {
  /** Stages that were submitted, each counted once. */
  readonly computed: number;
  /** Stages of which a later attempt was submitted. */
  readonly again: number;
  /** Stages of a job that were never submitted, because their output was there. The web UI calls them SKIPPED. */
  readonly skipped: number;
};

/** Counts the stages in the lines of an event log. */
export const stagesIn = (text: string): StageCounts => {
  const [ofJobs, submitted, again] = [new Set<number>(), new Set<number>(), new Set<number>()];
  for (const one of text.split("\n")) {
    if (!/^\{"Event":"SparkListener(JobStart|StageSubmitted)"/.test(one)) continue;
    const event = line.parse(JSON.parse(one));
    if (event.Event === "SparkListenerJobStart") for (const info of event["Stage Infos"]) ofJobs.add(info["Stage ID"]);
    else {
      const info = event["Stage Info"];
      (info["Stage Attempt ID"] > 0 ? again : submitted).add(info["Stage ID"]);
    }
  }
  return {
    computed: submitted.size,
    again: again.size,
    skipped: [...ofJobs].filter((id) => !submitted.has(id)).length,
  };
};

/** Reads the one event log in a folder of this machine; throws while it is not complete. */
export const readStages = async (dir: string): Promise<StageCounts> => {
  const [file, ...others] = await readdir(dir);
  if (file === undefined || others.length > 0 || file.endsWith(".inprogress"))
    throw new Error(`${dir} has no single complete event log: ${[file, ...others].join(", ")}`);
  return stagesIn(await readFile(join(dir, file), "utf8"));
};
