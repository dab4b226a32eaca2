/** `rekindle page`: the page over the user's own kubeconfig, on this machine, until Ctrl-C. */
import type { Command } from "commander";
import type { Tools } from "../io/tools.ts";
import { findTarget } from "../selection/target.ts";
import { connected, countFrom, onNamespace, type Scoped } from "./options.ts";

type Options = Scoped & { readonly port: number };

export const page = (tools: Tools): Command =>
  onNamespace("page")
    .description("serve the page on 127.0.0.1 with the rights of the kubeconfig; it only reads")
    .argument("[application]", "opens with it: NAME, NAMESPACE/NAME or KIND/NAMESPACE/NAME")
    .option("--port <number>", "port on 127.0.0.1 (default: a free one)", countFrom(0), 0)
    .action((name: string | undefined, options: Options) =>
      connected(tools, options, async (session) => {
        const target = name === undefined ? undefined : await findTarget(name, session, options.namespace);
        const namespaces = options.namespace === undefined ? [] : [options.namespace];
        const { link, close } = await tools.page(session, { namespaces, port: options.port, key: target?.key });
        tools.print(`The page, until Ctrl-C; the link opens one session: ${link}`);
        await tools.stopped();
        await close();
      }),
    );
