/** The wiring of the bell: it needs a queue, and neither an account of the cluster nor a connection to it. A dispatcher serves it, too. */
import { openLines } from "../../adapters/telemetry/tracing.ts";
import { subjectsOf } from "../../forward/keys.ts";

import { runs } from "../../registry/names.ts";
import { watchers } from "../../registry/watchers.ts";
import { noticesOf } from "../common/notices.ts";
import { openFunctionQueue } from "../common/queues.ts";
import { openSecret } from "../common/secret.ts";

import { type Environment, type Settings, settingsFor } from "../settings/read.ts";
import { type BellParts, bellApp, largest } from "./app.ts";

type BellSettings = Pick<Settings<"bell">, "cluster" | "families" | "namespaces" | "selector" | "admissionPath">;

/** Returns the app of the bell, which sends to this queue. */
export const bellInto = (
  { cluster, families, namespaces, selector, admissionPath }: BellSettings,
  { queue, report }: Pick<BellParts, "queue" | "report">,
): ReturnType<typeof bellApp> =>
  bellApp({
    cluster,
    subjects: subjectsOf(watchers.filter(runs(families)), selector),
    notices: (node, until) => noticesOf(cluster, node, until),
    // A deployment of named namespaces runs no cluster-scoped kinds. A label selector of namespaces is the webhook's own.
    within: (namespace) => namespaces.length === 0 || namespaces.includes(namespace),
    paths: openSecret(admissionPath, { report, setting: "admissionPath" }),
    queue,
    report,
    time: Date.now,
  });

/** Opens the bell from the environment's settings. Nothing is connected before the first ring. */
export const openBell = (env: Environment): { readonly app: ReturnType<typeof bellApp>; close(): Promise<void> } => {
  const settings = settingsFor("bell", env);
  const telemetry = openLines(settings);
  const { queue, nats } = openFunctionQueue(settings, telemetry);
  return { app: bellInto(settings, { queue, report: telemetry.report }), close: async () => await nats?.close() };
};

/** Serves the bell as a process, until it is stopped. */
export const ringUntil = async (env: Environment, stopped: Promise<void>): Promise<void> => {
  const { serveUntil } = await import("../http/process.ts");
  const { app, close } = openBell(env);
  await serveUntil(settingsFor("bell", env), app, stopped, largest);
  await close();
};
