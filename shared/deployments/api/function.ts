/**
 * The api function: triggers become keys on the FIFO queue. EventBridge may invoke it directly with its events; IAM
 * authorizes such an invocation, so there is no signature to check.
 */

import { openLines } from "../../adapters/telemetry/tracing.ts";
import { bridgedIntent } from "../../api/events.ts";
import { ApiError } from "../../core/http.ts";
import { dedupe, digest, type Message, textOf } from "../../core/key.ts";
import type { Report } from "../../engine/ports.ts";
import { kindNames, plurals } from "../../registry/names.ts";
import { acknowledgingFor, identifyBy } from "../common/authentication.ts";
import { noticesOf } from "../common/notices.ts";
import { once } from "../common/once.ts";
import { openSender, type Sender } from "../common/queues.ts";
import { openOptional, type Secret } from "../common/secret.ts";
import { openSignIn } from "../common/sign-in.ts";
import type { Scrape } from "../host/metrics.ts";
import type { ApiParts } from "../host/process.ts";
import type { PageParts } from "../page/routes.ts";
import type { Reader } from "../read-api/reader.ts";
import { type Environment, type Settings, settingsFor } from "../settings/read.ts";
import { carry } from "./app.ts";

/** Logs a failed read, because the caller gets no details. An expired page token (410) is not logged. */
const reported = async <T>(reading: Promise<T>, report: Report): Promise<T> => {
  try {
    return await reading;
  } catch (cause) {
    const isExpired = cause instanceof ApiError && cause.status === 410;
    if (!isExpired) report("error", "the requested object could not be read", { error: String(cause) });
    throw cause;
  }
};

/**
 * Opens the read API; undefined without a cluster record. Its code is loaded with the first read, so that triggers do
 * not load it.
 */
const readerIn = ({ clusterRecord, checkpoints, cluster }: Settings<"api">, report: Report): Reader | undefined => {
  if (clusterRecord === undefined) return undefined;
  const open = once(async () => {
    const { readFrom } = await import("../read-api/reader.ts");
    return readFrom(clusterRecord, checkpoints, cluster);
  });
  return {
    list: (...query) =>
      reported(
        open().then((reader) => reader.list(...query)),
        report,
      ),
    find: (named) =>
      reported(
        open().then((reader) => reader.find(named)),
        report,
      ),
  };
};

type Health = Pick<PageParts, "standing" | "unheard">;

/**
 * Opens metrics of the cluster's objects; undefined without a cluster record. The code is loaded with the first scrape.
 */
const scrapeIn = (settings: Settings<"api">, report: Report, known: Health): (() => Promise<Scrape>) | undefined => {
  const { clusterRecord, checkpoints, metricsPrefix: prefix, metricsLabels: labels } = settings;
  if (clusterRecord === undefined) return undefined;
  const open = once(async () => {
    const { gaugesFrom } = await import("../host/metrics.ts");
    return gaugesFrom(clusterRecord, checkpoints, { prefix, labels }, known);
  });
  return () =>
    reported(
      open().then((scrape) => scrape()),
      report,
    );
};

/** Opens the health that a resync or dispatcher has recorded last: other controllers, and changes that no message had told; empty without a cluster record. */
const healthIn = (settings: Settings<"api">, report: Report): Health => {
  const { clusterRecord } = settings;
  if (clusterRecord === undefined) return {};
  const open = once(async () => {
    const [{ openStandingReader, openUnheardReader }, { openAccess }] = await Promise.all([
      import("./health-records.ts"),
      import("../common/cluster-access.ts"),
    ]);
    const transport = openAccess(clusterRecord, { userAgent: "rekindle-api" });
    const reading = { ...settings, transport, report, now: Date.now };
    return { standing: openStandingReader(reading), unheard: openUnheardReader(reading) };
  });
  return { standing: async () => (await open()).standing(), unheard: async () => (await open()).unheard() };
};

/** Opens the page; undefined without a way to sign in or a cluster record. Its code is loaded with the first request for it. */
const pageIn = (
  settings: Settings<"api">,
  secret: Secret | undefined,
  report: Report,
  known: Health,
): ApiParts["page"] => {
  const { clusterRecord } = settings;
  const signIn = openSignIn(settings, secret, report);
  if (signIn === undefined || clusterRecord === undefined) return undefined;
  return async () => {
    const { openFunctionPage } = await import("../page/host.ts");
    const { openAccess } = await import("../common/cluster-access.ts");
    const transport = openAccess(clusterRecord, { userAgent: "rekindle-api" });
    return { ...openFunctionPage({ settings, transport, signIn, report }), ...known };
  };
};

/** Builds the parts of the HTTP API from the environment. Nothing is connected, so the function is ready at once. */
export const openApi = (env: Environment): ApiParts & Pick<Sender, "close"> => {
  const settings = settingsFor("api", env);
  const { cluster, updatesUrl, natsUrl } = settings;
  const telemetry = openLines(settings);
  const { report } = telemetry;
  const secret = openOptional(settings.triggerSecret, { report, setting: "triggerSecret" });
  const updatesSecret = openOptional(settings.updatesSecret, { report, setting: "updatesSecret" });
  const { send: queued, close } = openSender(settings, telemetry);
  const known = healthIn(settings, report);
  const send = async (message: Message, event: string): Promise<void> => {
    try {
      await queued(message, dedupe.trigger(message, digest(event)));
    } catch (cause) {
      // The caller gets no details of a failure.
      report("error", "a trigger could not be sent", { key: textOf(message), error: String(cause) });
      throw cause;
    }
  };
  return {
    ready: () => true,
    kinds: () => kindNames,
    plurals,
    trigger: ({ kind, namespace, name }, event) => send({ cluster, kind, namespace, name, reason: "trigger" }, event),
    notice: async (node, until, event) => {
      await Promise.all(noticesOf(cluster, node, until).map((message) => send(message, event)));
    },
    acknowledging:
      updatesUrl === undefined && natsUrl === undefined ? undefined : acknowledgingFor(cluster, updatesSecret, queued),
    reader: readerIn(settings, report),
    scrape: scrapeIn(settings, report, known),
    guarded: settings.metricsFor !== "anybody",
    identify: identifyBy(secret, report),
    standing: known.standing,
    page: pageIn(settings, secret, report, known),
    close,
  };
};

const accepted = (count: number) => ({
  statusCode: 202,
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ accepted: count }),
  isBase64Encoded: false,
});

/**
 * Handles an event of EventBridge; undefined for any other event. Throws when its intent cannot be sent: EventBridge
 * tries again.
 */
export const takeBridged = async (
  parts: ApiParts,
  event: unknown,
): Promise<ReturnType<typeof accepted> | undefined> => {
  const intent = bridgedIntent(event, { kinds: parts.kinds(), plurals: parts.plurals, now: Date.now() });
  if (intent === undefined || intent.do === "nothing") return intent === undefined ? undefined : accepted(0);
  await carry(parts, intent);
  return accepted(1);
};
