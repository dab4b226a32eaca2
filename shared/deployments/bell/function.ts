/** The wiring of the bell: it needs a queue, and neither an account of the cluster nor a connection to it. */
import { openLines } from "../../adapters/telemetry/tracing.ts";
import { subjectsOf } from "../../forward/keys.ts";

import { runs } from "../../registry/names.ts";
import { watchers } from "../../registry/watchers.ts";
import { noticesOf } from "../common/notices.ts";
import { openFunctionQueue } from "../common/queues.ts";
import { openSecret } from "../common/secret.ts";

import { type Environment, settingsFor } from "../settings/read.ts";
import { bellApp, largest } from "./app.ts";

/** Opens the bell from the environment's settings. Nothing is connected before the first ring. */
export const openBell = (env: Environment): { readonly app: ReturnType<typeof bellApp>; close(): Promise<void> } => {
  const settings = settingsFor("bell", env);
  const { cluster, families, namespaces, selector } = settings;
  const telemetry = openLines(settings);
  const { report } = telemetry;
  const { queue, nats } = openFunctionQueue(settings, telemetry);
  const app = bellApp({
    cluster,
    subjects: subjectsOf(watchers.filter(runs(families)), selector),
    notices: (node, until) => noticesOf(cluster, node, until),
    // A deployment of named namespaces runs no cluster-scoped kinds. A label selector of namespaces is the webhook's own.
    within: (namespace) => namespaces.length === 0 || namespaces.includes(namespace),
    paths: openSecret(settings.admissionPath, { report, setting: "admissionPath" }),
    queue,
    report,
    time: Date.now,
  });
  return { app, close: async () => await nats?.close() };
};

/** Serves the bell as a process, until it is stopped. */
export const ringUntil = async (env: Environment, stopped: Promise<void>): Promise<void> => {
  const { serveUntil } = await import("../http/process.ts");
  const { app, close } = openBell(env);
  await serveUntil(settingsFor("bell", env), app, stopped, largest);
  await close();
};
