/**
 * The wiring of the admission function. It connects to the cluster only where quotas are enforced or labels select
 * namespaces; Volcano's queues are checked where quotas are.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { Hono } from "hono";
import { lineReport } from "../../adapters/telemetry/lines.ts";
import { openTimeLimit } from "../../adapters/time-limit.ts";
import { selectorOf } from "../../kube/selector.ts";
import { openSecret } from "../common/secret.ts";
import { type Environment, type Settings, settingsFor } from "../settings/read.ts";
import { admissionApp } from "./app.ts";

const hashOf = (text: string): Buffer => createHash("sha256").update(text).digest();

/** Compares in constant time. */
const isSame = (given: string, expected: string): boolean => timingSafeEqual(hashOf(given), hashOf(expected));

type App = ReturnType<typeof admissionApp>;

/** Builds the app, under the secret path where one is set; any other path is not found. */
export const openAdmissionApp = async (env: Environment): Promise<App> => {
  const settings = settingsFor("admission", env);
  const app = await openApp(settings);
  if (settings.admissionPath === undefined) return app;
  const secret = openSecret(settings.admissionPath, {
    report: lineReport(settings.logLevel),
    setting: "admissionPath",
  });
  const server = new Hono();
  server.use("/:path/*", async (c, next) =>
    isSame(c.req.param("path"), await secret()) ? await next() : c.notFound(),
  );
  return server.route("/:path", app);
};

const openApp = async (settings: Settings<"admission">): Promise<App> => {
  const { admissionQuota: quota, selector, clusterRecord, logLevel, ...chosen } = settings;
  const selects = selectorOf(selector);
  const pods = { queueGate: settings.admissionQueueGate, groups: settings.admissionResourceGroups };
  const limit = openTimeLimit();
  if (!quota && chosen.namespaceSelector === "") return admissionApp({ selects, pods, limit });
  if (clusterRecord === undefined)
    throw new Error(
      "set the function's environment: REKINDLE_CLUSTER_RECORD (is missing: quotas and labels of namespaces are read)",
    );
  const { openAccess } = await import("../common/cluster-access.ts");
  const { quotasOf } = await import("./surroundings.ts");
  const { surroundingsOf } = await import("./surroundings.ts");
  const transport = openAccess(clusterRecord, { userAgent: "rekindle-admission" });
  const { openNamespaceScope } = await import("../common/namespaces.ts");
  const { within } = openNamespaceScope({ ...chosen, transport, report: lineReport(logLevel), now: Date.now });
  const reads = quota ? { quotas: quotasOf(transport, Date.now), around: surroundingsOf(transport, Date.now) } : {};
  return admissionApp({ ...reads, selects, within, pods, limit });
};
