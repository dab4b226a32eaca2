/** Runs the HTTP functions as processes. */
import { getRequestListener } from "@hono/node-server";
import { listenUntil, type Served } from "./server.ts";

type App = { readonly fetch: (request: Request) => Response | Promise<Response> };

/** Serves until `stopped`; requests in flight are answered. */
export const serveUntil = (settings: Served, app: App, stopped: Promise<void>): Promise<void> =>
  listenUntil(settings, getRequestListener(app.fetch), stopped);
