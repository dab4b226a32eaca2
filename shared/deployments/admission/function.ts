/**
 * The wiring of the admission function. Behind a URL it connects to the cluster only where quotas are enforced or labels
 * select namespaces; Volcano's queues are checked where quotas are. As a process it may register itself.
 */
import { Hono } from "hono";
import { lineReport } from "../../adapters/telemetry/lines.ts";
import { selectorOf } from "../../kube/selector.ts";
import { isSecretPath, openSecret } from "../common/secret.ts";
import { openManySlices, openSlices } from "../common/slices.ts";
import { type Environment, type Settings, settingsFor } from "../settings/read.ts";
import { admissionApp, largest } from "./app.ts";

type App = ReturnType<typeof admissionApp>;

const missingRecord = (why: string): Error =>
  new Error(`set the function's environment: REKINDLE_CLUSTER_RECORD (is missing: ${why})`);

const userAgent = "rekindle-admission";

/** Builds the app, under the secret path where one is set; any other path is not found. */
export const openAdmissionApp = async (env: Environment): Promise<App> => {
  const settings = settingsFor("admission", env);
  if (settings.admission)
    throw new Error(
      "REKINDLE_ADMISSION: behind a URL the function cannot register itself: unset it, and run rekindle manifests --admission-url",
    );
  const app = await openApp(settings);
  if (settings.admissionPath === undefined) return app;
  const secret = openSecret(settings.admissionPath, {
    report: lineReport(settings.logLevel),
    setting: "admissionPath",
  });
  const server = new Hono();
  server.use("/:path/*", async (c, next) =>
    isSecretPath(c.req.param("path"), await secret()) ? await next() : c.notFound(),
  );
  return server.route("/:path", app);
};

const openApp = async (settings: Settings<"admission">): Promise<App> => {
  const { admissionQuota: quota, selector, clusterRecord, logLevel, ...chosen } = settings;
  const selects = selectorOf(selector);
  const pods = { queueGate: settings.admissionQueueGate, groups: settings.admissionResourceGroups };
  const estimate = settings.admissionQuotaEstimate;
  const own = { selects, pods, slices: openSlices(), confs: settings.sparkDefaults, estimate };
  if (!quota && chosen.namespaceSelector === "") return admissionApp(own);
  if (clusterRecord === undefined) throw missingRecord("quotas and labels of namespaces are read");
  const { openAccess } = await import("../common/cluster-access.ts");
  const { quotasOf } = await import("./surroundings.ts");
  const { surroundingsOf } = await import("./surroundings.ts");
  const transport = openAccess(clusterRecord, { userAgent });
  const { openNamespaceScope } = await import("../common/namespaces.ts");
  const { within } = openNamespaceScope({ ...chosen, transport, report: lineReport(logLevel), now: Date.now });
  const reads = quota ? { quotas: quotasOf(transport, Date.now), around: surroundingsOf(transport, Date.now) } : {};
  return admissionApp({ ...reads, ...own, within });
};

/** Serves admission over HTTPS and registers it, as a host does, until the process is stopped. */
const serveRegistered = async (settings: Settings<"admission">, stopped: Promise<void>): Promise<void> => {
  const { clusterRecord, logLevel } = settings;
  if (clusterRecord === undefined) throw missingRecord("admission registers itself");
  const { openAccess } = await import("../common/cluster-access.ts");
  const { openAdmission } = await import("./process.ts");
  const report = lineReport(logLevel);
  const transport = openAccess(clusterRecord, { userAgent });
  const admission = await openAdmission(settings, { transport, report, slices: openManySlices() });
  report("info", "serving admission", { port: admission.port });
  await stopped;
  await admission.close();
};

/** Runs the function as a process: with the setting `admission` it registers itself, otherwise it has a URL. */
export const admitUntil = async (env: Environment, stopped: Promise<void>): Promise<void> => {
  const settings = settingsFor("admission", env);
  if (settings.admission) return await serveRegistered(settings, stopped);
  const { serveUntil } = await import("../http/process.ts");
  await serveUntil(settings, await openAdmissionApp(env), stopped, largest);
};
