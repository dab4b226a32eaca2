/** The page on this machine: over the simulator for the demo, over the user's kubeconfig for `rekindle page`. */

import { createServer } from "node:http";
import type { ReadTable } from "../../cli/io/tools.ts";
import type { Transport } from "../../core/http.ts";
import { requestListener } from "../http/process.ts";
import { httpTimeouts } from "../http/server.ts";
import type { Access } from "./access.ts";
import { openBoard } from "./board.ts";
import { openDetails } from "./detail.ts";
import { pageFiles } from "./files.ts";
import { openLogs } from "./logs.ts";
import { pageApp } from "./routes.ts";
import { watchAll } from "./watches.ts";

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
};

/** Watches the cluster and serves the page on 127.0.0.1. */
export const openLocalPage = async (settings: Settings): Promise<LocalPage> => {
  const { transport, table, cluster, namespaces, access } = settings;
  const board = openBoard(Date.now);
  const watching = watchAll({ transport, namespaces, board });
  const details = openDetails({ transport, table }, board);
  let port = settings.port;
  const hosts = (): readonly string[] => [`127.0.0.1:${port}`, `localhost:${port}`];
  const { ready } = watching;
  const logs = openLogs({ transport });
  const app = pageApp({ board, details, logs, files: pageFiles, cluster, ready, isStreamed: true }, access, hosts);
  const server = createServer(httpTimeouts, requestListener(app.fetch));
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
