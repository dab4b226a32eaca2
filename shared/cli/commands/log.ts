/** `rekindle log` as people type it. */
import type { Command } from "commander";
import { showLog } from "../log.ts";
import { application, connected, countFrom, onNamespace, type Scoped, spanOf } from "../options.ts";
import { findTarget } from "../target.ts";
import type { Tools } from "../tools.ts";

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
    .option("-f, --follow", "go on as it grows, into the next attempt, until the application has ended")
    .option("-e, --executor <id>", "of this executor; without it of the driver")
    .option("--pod <name>", "of this pod of it; job NAME-TASK-INDEX is also TASK-INDEX")
    .option("--task <name>", "of the pods of this task of a job; without it of a job's only pod, or they are listed")
    .option("--index <number>", "of the pod with this index in its task", countFrom(0))
    .option("--tail <lines>", "only so many of the last lines", countFrom(0))
    .option("--since <span>", "only what is younger, e.g. 10m", spanOf)
    .option("--timestamps", "with the time of each line")
    .option("-c, --container <name>", "of this container of the pod (default: Spark's own)")
    .option("--previous", "of the container before its last restart")
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
