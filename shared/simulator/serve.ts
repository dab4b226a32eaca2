/** Serves a simulator on a port of loopback, and makes the kubeconfig for it. */
import type { Server } from "node:http";
import type { Duplex } from "node:stream";
import { serve as listen } from "@hono/node-server";
import { simulatorApp } from "./app.ts";
import type { Caller } from "./calling.ts";
import type { Simulator } from "./open.ts";
import { ownToken } from "./people.ts";
import { drive, type Pace } from "./realtime.ts";
import { upgrade } from "./sockets.ts";

export type Served = {
  readonly url: string;
  /** A kubeconfig, as JSON, which is YAML too. */
  readonly kubeconfig: string;
  close(): Promise<void>;
};

export const kubeconfigFor = (url: string): string =>
  `${JSON.stringify(
    {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "simulator", cluster: { server: url } }],
      users: [{ name: "simulator", user: { token: ownToken } }],
      contexts: [{ name: "simulator", context: { cluster: "simulator", user: "simulator", namespace: "default" } }],
      "current-context": "simulator",
    },
    undefined,
    2,
  )}\n`;

const portOf = (server: { address(): ReturnType<Server["address"]> }): number => {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
};

/** Serves on 127.0.0.1; port 0 takes a free one. `caller` is that of the simulator. The clock follows real time. */
export const serveSimulator = async (
  simulator: Simulator,
  options: Pace & { readonly port?: number; readonly caller?: Caller } = {},
): Promise<Served> => {
  const { catchUp, stop } = drive(simulator.clock, options);
  const app = simulatorApp(simulator, catchUp, options.caller?.run);
  const server = await new Promise<ReturnType<typeof listen>>((resolve, reject) => {
    const opened = listen({ fetch: app.fetch, hostname: "127.0.0.1", port: options.port ?? 0 }, () => resolve(opened));
    opened.once("error", reject);
  }).catch((cause) => {
    stop();
    throw cause;
  });
  const sockets = new Set<Duplex>();
  server.on("upgrade", (request, socket, head) => {
    socket.unshift(head);
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    catchUp();
    upgrade(simulator.door, request, socket);
  });
  const url = `http://127.0.0.1:${portOf(server)}`;
  return {
    url,
    kubeconfig: kubeconfigFor(url),
    close: () =>
      new Promise((resolve) => {
        stop();
        for (const socket of sockets) socket.destroy();
        if ("closeAllConnections" in server) server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
};
