/** The page for the callers of the HTTP API. */
import { Hono } from "hono";
import type { Gate } from "../common/authentication.ts";
import { callersOnly, openSecretSessions } from "./access.ts";
import { openActions, type Trigger } from "./actions.ts";
import { openDetails } from "./detail.ts";
import { pageFiles } from "./files.ts";
import type { ServedPage } from "./host.ts";
import { openKubeWay } from "./kube-token.ts";
import { openLogs } from "./logs.ts";
import { openProvider } from "./provider.ts";
import { openWaiting } from "./queue-order.ts";
import { servePage } from "./routes.ts";

/** Names the right that actions need, beside the API server's message. */
const advice = "; rekindle manifests --features actions grants the rights that actions need";

/** Returns the namespaces with rows, after the look that a viewer would cause. */
const seen =
  ({ board, viewed, fresh }: ServedPage) =>
  async (): Promise<readonly string[]> => {
    viewed?.();
    await fresh?.();
    return board.namespaces();
  };

export const callersPage = (page: ServedPage, gate: Gate, trigger: Trigger): Hono => {
  const { board, transport, table, signIn, freshMs, rates, report, commandNamespace } = page;
  const app = new Hono();
  const sessions = openSecretSessions(signIn.secret);
  const provider =
    signIn.provider && openProvider({ settings: signIn.provider, secret: signIn.secret, sessions, report });
  const kube = signIn.kube && openKubeWay({ transport, families: signIn.kube, namespaces: seen(page), report });
  const ways = { hasCallers: signIn.hasCallers, provider, kube };
  const details = openDetails({ transport, table }, board, { freshMs, rates });
  const logs = openLogs({ transport, table });
  const actions = openActions({ transport, report, commandNamespace, trigger, now: Date.now, advice });
  servePage(
    app,
    { ...page, details, logs, waiting: openWaiting(transport), actions, files: pageFiles },
    callersOnly(gate, sessions, ways),
  );
  app.notFound((c) => c.json({ error: "not found" }, 404));
  app.onError((_, c) => c.json({ error: "internal error: see the log of this process" }, 500));
  return app;
};
