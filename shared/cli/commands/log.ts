/** `rekindle log` as people type it. */
import type { Command } from "commander";
import { showLog } from "../inspection/log.ts";
import type { Tools } from "../io/tools.ts";
import { findTarget } from "../selection/target.ts";
import { application, connected, countFrom, onNamespace, type Scoped, spanOf } from "./options.ts";

type Options = Scoped & {
  readonly follow?: true;
  readonly executor?: string;
  readonly pod?: string;
  readonly task?: string;
  readonly index?: number;
  readonly tail?: number;
  readonly since?: number;
  readonly timestamps?: true;
  readonly container?: string;
  readonly previous?: true;
};

export const log = (tools: Tools): Command =>
  onNamespace("log")
    .argument(...application)
    .option("-f, --follow", "follow the log, into the next attempt, until the application has ended")
    .option("-e, --executor <id>", "of this executor (default: of the driver)")
    .option("--pod <name>", "log of this pod; of a job, TASK-INDEX is short for NAME-TASK-INDEX")
    .option("--task <name>", "logs of the pods of this task of a job (default: its only pod, or a list of its pods)")
    .option("--index <number>", "log of the pod with this index in its task", countFrom(0))
    .option("--tail <lines>", "only this many of the last lines", countFrom(0))
    .option("--since <span>", "only lines that are younger, e.g. 10m", spanOf)
    .option("--timestamps", "print the time of each line")
    .option("-c, --container <name>", "log of this container of the pod (default: Spark's own)")
    .option("--previous", "log of the container before its last restart")
    .action((name: string, options: Options) =>
      connected(tools, options, async (session) =>
        showLog(tools, session, await findTarget(name, session, options.namespace), {
          executor: options.executor,
          pod: options.pod,
          task: options.task,
          index: options.index,
          follow: options.follow === true,
          tail: options.tail,
          sinceMs: options.since,
          timestamps: options.timestamps === true,
          container: options.container,
          previous: options.previous === true,
        }),
      ),
    );
