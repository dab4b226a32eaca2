/** `rekindle uninstall` as people type it. */
import type { Command } from "commander";
import { counted } from "../../core/counted.ts";
import { removalOf, removalText, removeAll } from "../installation/uninstall.ts";
import { Refused } from "../io/failure.ts";
import type { Tools, Where } from "../io/tools.ts";
import { connected, onCluster } from "./options.ts";

export const uninstall = (tools: Tools): Command =>
  onCluster("uninstall")
    .option("--crds", "also remove the CRDs, and with them all objects of these kinds")
    .option("--yes", "do not ask")
    .action((options: Where & { readonly crds?: boolean; readonly yes?: boolean }) =>
      connected(tools, options, async (session) => {
        const removal = await removalOf(session, options.crds === true);
        tools.print(removalText(removal) || "nothing of Rekindle is installed here");
        if (removal.goes.length === 0) return;
        const question = `Remove ${counted(removal.goes.length, "object")} from ${session.context ?? session.server}?`;
        if (options.yes !== true && !(await tools.confirm(question)))
          throw new Refused("nothing was removed (--yes skips the question)");
        await removeAll(session, removal);
        tools.print(`removed ${counted(removal.goes.length, "object")}`);
      }),
    );
