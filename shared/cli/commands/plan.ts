/** `rekindle plan` as people type it. */
import type { Command } from "commander";
import { planText } from "../inspection/plan.ts";
import { lookHinting } from "../inspection/status.ts";
import type { Tools } from "../io/tools.ts";
import { findTarget } from "../selection/target.ts";
import { application, connected, onNamespace, type Scoped } from "./options.ts";

export const plan = (tools: Tools): Command =>
  onNamespace("plan")
    .argument(...application)
    .action((name: string, options: Scoped) =>
      connected(tools, options, async (session) => {
        const target = await findTarget(name, session, options.namespace);
        const seen = await lookHinting(session, target, tools.now());
        tools.print(planText(seen, await tools.preview(session, target.key)));
      }),
    );
