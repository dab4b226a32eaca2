/** Runs the HTTP functions as processes. */
import { requestListener } from "./request-listener.ts";
import { listenUntil, type Served } from "./server.ts";

type App = { readonly fetch: (request: Request) => Response | Promise<Response> };

/** Serves until `stopped`; requests in flight are answered. */
export const serveUntil = (settings: Served, app: App, stopped: Promise<void>): Promise<void> =>
  listenUntil(settings, requestListener(app.fetch), stopped);
