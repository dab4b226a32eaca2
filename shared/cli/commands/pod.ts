/** `rekindle pod` as people type it: the subcommand and flags of vcctl's. */
import { Command } from "commander";
import { Refused } from "../io/failure.ts";
import type { Tools } from "../io/tools.ts";
import { podRows, podTable } from "../job/pod-table.ts";
import { connected, elsewhere, onNamespace, type Scoped } from "./options.ts";

type Options = Scoped & { readonly queue?: string; readonly job?: string; readonly allNamespaces?: true };

const list = (tools: Tools): Command =>
  elsewhere(onNamespace("list"))
    .summary("pods of Volcano's jobs, or of a queue")
    .option("-q, --queue <name>", "only those of this queue, and those of others than jobs in it")
    .option("-j, --job <name>", "only those of this job")
    .option("-A, --all-namespaces", "all namespaces")
    .action((options: Options) =>
      connected(tools, options, async (session) => {
        const { queue, job } = options;
        const namespace = options.allNamespaces === true ? "" : (options.namespace ?? session.namespace ?? "default");
        const rows = await podRows(session, namespace, { job, queue });
        if (job !== undefined && queue !== undefined && rows.some((row) => row.queue !== queue))
          throw new Refused(`the job ${job} is not of the queue ${queue}`);
        tools.print(podTable(rows));
      }),
    );

export const pod = (tools: Tools): Command => new Command("pod").addCommand(list(tools));
