/**
 * The page on this machine: over the simulator for the demo, over the user's kubeconfig for `rekindle page`, with the
 * rights of that kubeconfig; a link holds a secret that opens a session, once. Watches feed the board, because this
 * process runs no steps.
 */

import { checkpointResource } from "../../adapters/checkpoints/kubernetes.ts";
import type { PageOptions } from "../../cli/io/tools.ts";
import type { Transport } from "../../core/http.ts";
import type { Resource } from "../../core/object.ts";
import type { Report } from "../../engine/ports.ts";
import { follow } from "../../forward/listwatch.ts";
import { pause } from "../../forward/pause.ts";
import type { ReadTable, Session } from "../../inspection/io/session.ts";
import { everyKind } from "../../inspection/kinds/all.ts";
import { openRates } from "../../inspection/rates.ts";
import type { Prices } from "../../kube/prices.ts";
import { pods } from "../../kube/resources.ts";
import { trim } from "../../kube/trim.ts";
import { keyOf } from "../../page/wire.ts";
import { vcctlNamespace } from "../../volcano/gang/settings.ts";
import { podGroups, queues } from "../../volcano/schema/resource.ts";
import { requestListener } from "../http/process.ts";
import { openPort } from "../http/server.ts";
import { type Access, oneTime } from "./access.ts";
import { openActions } from "./actions.ts";
import { type Board, openBoard } from "./board.ts";
import { openDetails } from "./detail.ts";
import { pageFiles } from "./files.ts";
import { openLogs } from "./logs.ts";
import { openWaiting } from "./queue-order.ts";
import { pageApp } from "./routes.ts";

export type Watching = {
  /** True once everything has been listed, or is known not to be there. */
  ready(): boolean;
  stop(): Promise<void>;
};

type Followed = { readonly resource: Resource; readonly selector?: string; readonly isClusterWide?: true };

const everything: readonly Followed[] = [
  ...everyKind.map(({ resource }) => ({ resource })),
  { resource: checkpointResource },
  { resource: pods, selector: "spark-role" },
  { resource: pods, selector: "volcano.sh/job-name" },
  { resource: queues, isClusterWide: true },
  { resource: podGroups, isClusterWide: true },
];

type WatchSettings = {
  readonly transport: Transport;
  /** Empty: all. */
  readonly namespaces: readonly string[];
  readonly board: Board;
};

const watchAll = ({ transport, namespaces, board }: WatchSettings): Watching => {
  const stopping = new AbortController();
  const { signal } = stopping;
  const waiting = new Set<object>();
  const loops = everything.flatMap((one) =>
    (namespaces.length === 0 || one.isClusterWide === true ? [undefined] : namespaces).map((namespace) => ({
      ...one,
      namespace,
    })),
  );
  const running = loops.map((loop) => {
    const { resource, selector, namespace } = loop;
    waiting.add(loop);
    return follow({
      ...{ transport, resource, namespace, selector, pause, signal, random: Math.random },
      trim: (object) => {
        board.see(object);
        return trim(object);
      },
      changed: ({ before, after }) => {
        if (after === undefined) board.gone(before);
      },
      synced: () => void waiting.delete(loop),
      troubled: () => void waiting.delete(loop),
      now: () => performance.now(),
    });
  });
  return {
    ready: () => waiting.size === 0,
    stop: async () => {
      stopping.abort();
      await Promise.all(running);
    },
  };
};

export type LocalPage = {
  /** Address of the page, without a secret. */
  readonly url: string;
  close(): Promise<void>;
};

type Settings = {
  readonly transport: Transport;
  readonly table?: ReadTable | undefined;
  readonly cluster: string;
  /** Empty: all. */
  readonly namespaces: readonly string[];
  readonly access: Access;
  /** 0: a free one. */
  readonly port: number;
  /** Absent: no money is shown. */
  readonly prices?: Prices | undefined;
  /** Gets a line for each action; absent: the page only reads. */
  readonly acted?: Report | undefined;
};

/** Opens the actions, which go to the API server alone: this process has no queue for steps. */
const actionsOf = ({ transport, acted: report }: Settings) =>
  report && openActions({ transport, report, commandNamespace: vcctlNamespace, now: Date.now, advice: "" });

/** Watches the cluster and serves the page on 127.0.0.1. */
export const openLocalPage = async (settings: Settings): Promise<LocalPage> => {
  const { transport, table, cluster, namespaces, access } = settings;
  const rates = openRates(transport, settings.prices, () => performance.now());
  // Before the records, so that their executors have the prices of their nodes.
  await rates?.refresh();
  const board = openBoard(Date.now, rates);
  const watching = watchAll({ transport, namespaces, board });
  const details = openDetails({ transport, table }, board, { rates });
  let port = settings.port;
  const hosts = (): readonly string[] => [`127.0.0.1:${port}`, `localhost:${port}`];
  const { ready } = watching;
  const logs = openLogs({ transport, table });
  const actions = actionsOf(settings);
  const app = pageApp(
    {
      board,
      details,
      logs,
      waiting: openWaiting(transport),
      actions,
      files: pageFiles,
      cluster,
      ready,
      isStreamed: true,
    },
    access,
    hosts,
  );
  const server = openPort(requestListener(app.fetch));
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) =>
      reject(new Error(`cannot listen on 127.0.0.1:${port}: ${cause.message}`, { cause })),
    );
    server.listen({ host: "127.0.0.1", port }, resolve);
  });
  const address = server.address();
  if (typeof address === "object" && address !== null) port = address.port;
  return {
    url: `http://127.0.0.1:${port}/page`,
    close: async () => {
      await watching.stop();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

export const openPersonalPage = async (session: Session, { namespaces, port, key, acted }: PageOptions) => {
  const { transport, table, context, server, prices } = session;
  const { secret, ...access } = oneTime(context ?? "you", acted === undefined ? [] : ["act"]);
  const cluster = context ?? server;
  const report: Report | undefined = acted && ((_, message, fields) => acted(`${message}: ${JSON.stringify(fields)}`));
  const { url, close } = await openLocalPage({
    ...{ transport, table, cluster, namespaces, access, port, prices },
    acted: report,
  });
  const search = key === undefined ? "" : `?screen=application&application=${encodeURIComponent(keyOf(key))}`;
  // A fragment is never sent: the secret is in no log of a server.
  return { link: `${url}${search}#k=${secret}`, close };
};
