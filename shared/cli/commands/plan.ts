/** `rekindle plan` as people type it. */
import type { Command } from "commander";
import { application, connected, onNamespace, type Scoped } from "../options.ts";
import { planText } from "../plan.ts";
import { lookHinting } from "../status.ts";
import { findTarget } from "../target.ts";
import type { Tools } from "../tools.ts";

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
