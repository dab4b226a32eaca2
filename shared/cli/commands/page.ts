/**
 * Pages on this machine until Ctrl-C: `rekindle page` over the user's own kubeconfig, `rekindle forward` to a driver's
 * page.
 */

import type { Command } from "commander";
import { isRecord } from "../../core/json.ts";
import type { Stored } from "../../core/object.ts";
import type { Session } from "../../inspection/io/session.ts";
import { findTarget, lifeOf, missing, noPod, podOf, type Target } from "../../inspection/target.ts";
import { application, connected, countFrom, onNamespace, type Scoped } from "../io/options.ts";
import type { Tools } from "../io/tools.ts";

type Options = Scoped & { readonly port: number; readonly act?: true };

export const page = (tools: Tools): Command =>
  onNamespace("page")
    .description("serve the page on 127.0.0.1 with the rights of the kubeconfig; it only reads, unless --act is given")
    .argument("[application]", "the page opens with this object: NAME, NAMESPACE/NAME or KIND/NAMESPACE/NAME")
    .option("--port <number>", "port on 127.0.0.1 (default: a free one)", countFrom(0), 0)
    .option("--act", "lets the page pause, resume, suspend and delete, and open and close queues")
    .action((name: string | undefined, options: Options) =>
      connected(tools, options, async (session) => {
        const target = name === undefined ? undefined : await findTarget(name, session, options.namespace);
        const namespaces = options.namespace === undefined ? [] : [options.namespace];
        const acted = options.act === true ? tools.print : undefined;
        const { link, close } = await tools.page(session, { namespaces, port: options.port, key: target?.key, acted });
        tools.print(`The page, until Ctrl-C; the link opens one session: ${link}`);
        await tools.stopped();
        await close();
      }),
    );

type ForwardOptions = Scoped & { readonly port: number; readonly remotePort?: number; readonly executor?: string };

/** The port of the driver's page: `spark.ui.port`, or Spark's default. */
const pagePort = ({ spec }: Stored): number => {
  const conf = isRecord(spec) ? spec["sparkConf"] : undefined;
  const said = Number(isRecord(conf) ? conf["spark.ui.port"] : Number.NaN);
  return Number.isInteger(said) && said > 0 ? said : 4040;
};

const found = async (session: Session, target: Target, executor: string | undefined) => {
  const life = await lifeOf(session, target);
  if (life === undefined) throw await missing(session, target.key, [target.kind]);
  const pod = podOf(target, life, { executor });
  if (pod === undefined) throw await noPod(session, target, life, { executor });
  return { object: life.object, pod: pod.metadata.name };
};

const act = async (tools: Tools, session: Session, target: Target, options: ForwardOptions): Promise<void> => {
  const { object, pod } = await found(session, target, options.executor);
  const port = options.remotePort ?? pagePort(object);
  const leading = {
    ...{ namespace: target.key.namespace, port },
    pod: async () => (await found(session, target, options.executor)).pod,
  };
  const { url, close } = await session.passage(leading, { address: "127.0.0.1", port: options.port });
  tools.print(`${url} leads to port ${port} of ${pod}, until Ctrl-C`);
  await tools.stopped();
  await close();
};

export const forward = (tools: Tools): Command =>
  onNamespace("forward")
    .argument(...application)
    .description(
      "Opens a port of this machine that leads to the driver's page, through the API server (right: get pods/proxy).\nHTTP only; for anything else: kubectl port-forward.",
    )
    .option("-p, --port <port>", "port on this machine; 0 takes a free one", countFrom(0), 4040)
    .option("--remote-port <port>", "port of the pod (default: spark.ui.port, else 4040)", countFrom(1))
    .option("-e, --executor <id>", "of this executor (default: of the driver)")
    .action((name: string, options: ForwardOptions) =>
      connected(tools, options, async (session) =>
        act(tools, session, await findTarget(name, session, options.namespace), options),
      ),
    );
