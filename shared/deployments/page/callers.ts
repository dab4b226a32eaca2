/** The page for the callers of the HTTP API. */
import { Hono } from "hono";
import type { Gate } from "../common/authentication.ts";
import { callersOnly } from "./access.ts";
import { openDetails, openLogs } from "./detail.ts";
import { pageFiles } from "./files.ts";
import type { ServedPage } from "./host.ts";
import { servePage } from "./routes.ts";

export const callersPage = (page: ServedPage, gate: Gate): Hono => {
  const { board, transport, table, secret, freshMs, rates } = page;
  const app = new Hono();
  const details = openDetails({ transport, table }, board, { freshMs, rates });
  const logs = openLogs({ transport });
  servePage(app, { ...page, details, logs, files: pageFiles }, callersOnly(gate, secret));
  app.notFound((c) => c.json({ error: "not found" }, 404));
  app.onError((_, c) => c.json({ error: "internal" }, 500));
  return app;
};
