/**
 * The dispatcher as a process: it waits for its lease, dispatches while it holds it, and serves health, metrics and
 * triggers. A standby answers triggers with 503 and a time to come again, so that their senders try again. With the
 * setting `admission` every replica, also a standby, serves the webhooks.
 */

import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { Hono } from "hono";
import { type MakeProof, openAgents, openTokens } from "../../adapters/dispatch/call.ts";
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { openLines } from "../../adapters/telemetry/tracing.ts";
import { dedupe, digest, type Message } from "../../core/key.ts";
import type { Queue } from "../../engine/ports.ts";
import { openServerTime } from "../../engine/server-time.ts";
import { type Lease, openLease, renewMs } from "../../forward/lease.ts";
import { openUnheardBoard } from "../../forward/unheard.ts";
import { kindNames, plurals } from "../../registry/names.ts";
import { apiApp } from "../api/app.ts";
import { acknowledgingFor, checkCallers, identifyBy } from "../common/authentication.ts";
import { openAccess } from "../common/cluster-access.ts";
import { openNamespaceScope } from "../common/namespaces.ts";
import { noticesOf } from "../common/notices.ts";
import { openRecords } from "../common/records.ts";
import { openOptional, type Secret } from "../common/secret.ts";
import { openSignIn } from "../common/sign-in.ts";
import { openManySlices } from "../common/slices.ts";
import { openStandingBoard } from "../common/standby.ts";
import { processClock } from "../common/step-dependencies.ts";
import { openMetering, upstreamNaming, withProcess } from "../host/metrics.ts";
import type { ApiParts } from "../host/process.ts";
import { serveUntil } from "../http/process.ts";
import { type Environment, type Settings, settingsFor } from "../settings/read.ts";
import { type Dispatching, type DispatchParts, startDispatching } from "./start.ts";

/** Name of the lease that the dispatchers of one home share. */
const leaseName = "rekindle-dispatcher";
/** The longest that calls in flight hold up the end of a dispatcher, ms. */
const graceMs = 25_000;

const isToken = (text: string): boolean => /^[\w-]+\.[\w-]+\.[\w-]+$/.test(text);

/**
 * Opens the proof of calls: a token is sent as it is, a metadata server is asked for one, and anything else signs, by its
 * first line, because functions accept every line.
 */
export const openProof = (secret: Secret | undefined): MakeProof => {
  if (secret === undefined) return undefined;
  const tokenFrom = openTokens();
  return async (url) => {
    const [first = ""] = (await secret()).trim().split("\n");
    const text = first.trim();
    if (text.startsWith("["))
      throw new Error(
        "callSecret: a dispatcher proves itself by one secret or token; callers as JSON are for functions",
      );
    if (/^https?:\/\//.test(text)) return { token: await tokenFrom(text, url) };
    return isToken(text) ? { token: text } : { secret: text };
  };
};

/** Opens the parts of a dispatcher that outlive its leases. */
export const openParts = async (settings: Settings<"dispatch">): Promise<Omit<DispatchParts, "mayCall">> => {
  const telemetry = openLines(settings);
  const { report } = telemetry;
  const own = openAccess(settings.clusterRecord, { userAgent: "rekindle-dispatch" });
  const namespaceScope = openNamespaceScope({ ...settings, transport: own, report, now: Date.now });
  const around = { cluster: settings.cluster, home: settings.home };
  const { hints } = openRecords(settings.checkpoints, { ...around, transport: own });
  const naming = { ...upstreamNaming, prefix: settings.metricsPrefix, labels: settings.metricsLabels };
  const { gauges } = settings;
  const [standing, unheard] = [openStandingBoard(), openUnheardBoard()];
  const counted = { gauges, naming, transport: own, hints, namespaceScope };
  const metering = openMetering({ ...counted, standing: standing.all, unheard: unheard.latest, now: Date.now });
  const transport = telemetry.transport(metering.counted(own));
  const { tlsCertFile: cert, tlsKeyFile: key, concurrency } = settings;
  const secret = openOptional(settings.callSecret, { report, setting: "callSecret" });
  const clock = processClock();
  const { cluster, latest: serverTime } = openServerTime(openCluster(transport), clock, "answered");
  return {
    ...{ settings, telemetry, transport, namespaceScope, metering, standing, unheard, clock, cluster, serverTime },
    records: openRecords(settings.checkpoints, { ...around, transport }),
    agents: await openAgents({ cert, key }, concurrency * 2),
    prove: openProof(secret),
  };
};

/** For a request that was admitted while the lease was held, and whose dispatcher has lost it since. */
const standby = (): never => {
  throw new Error("this dispatcher is a standby");
};

/** The time after which a sender tries again whom a standby refused, s: another dispatcher may be active by then. */
const standbySeconds = 2;

/** Answers what would be sent to the queue with 503 while no dispatching is active; `/healthz`, reads and the page pass. */
const refusingStandby = (api: Served, active: () => Dispatching | undefined) => ({
  fetch: (request: Request, env?: object): Response | Promise<Response> =>
    request.method === "POST" && active() === undefined && new URL(request.url).pathname !== "/page/session"
      ? Response.json(
          { error: "this dispatcher is a standby" },
          { status: 503, headers: { "retry-after": String(standbySeconds) } },
        )
      : api.fetch(request, env),
});

type ApiInput = Pick<DispatchParts, "settings" | "telemetry" | "metering" | "transport" | "standing" | "unheard">;

/** The page. Its code is loaded with the first request for it. */
const pageIn = (
  { settings, telemetry: { report }, transport, standing, unheard }: ApiInput,
  trigger: Secret | undefined,
): ApiParts["page"] => {
  const signIn = openSignIn(settings, trigger, report);
  if (signIn === undefined) return undefined;
  return async () => {
    const { openFunctionPage } = await import("../page/host.ts");
    const known = { standing: async () => standing.all(), unheard: async () => unheard.latest() };
    return { ...openFunctionPage({ settings, transport, signIn, report }), ...known };
  };
};

/** Opens the HTTP API on the dispatcher that is active; undefined: none is. */
const apiPartsOf = (parts: ApiInput, trigger: Secret | undefined, active: () => Dispatching | undefined): ApiParts => {
  const { settings, telemetry, metering, standing } = parts;
  const { cluster } = settings;
  const updates = openOptional(settings.updatesSecret, { report: telemetry.report, setting: "updatesSecret" });
  const send = async (message: Message, id: string): Promise<void> => (active() ?? standby()).queue.send(message, id);
  return {
    ready: () => active()?.ready() === true,
    standing: async () => standing.all(),
    kinds: () => kindNames,
    plurals,
    trigger: ({ kind, namespace, name }, event) => {
      const key = { cluster, kind, namespace, name };
      return send({ ...key, reason: "trigger" }, dedupe.trigger(key, digest(event)));
    },
    notice: async (node, until) => {
      for (const one of noticesOf(cluster, node, until)) await (active() ?? standby()).notice(one);
    },
    scrape: withProcess(metering.scrape),
    guarded: settings.metricsFor === "callers",
    identify: identifyBy(trigger, telemetry.report),
    page: pageIn(parts, trigger),
    acknowledging: acknowledgingFor(cluster, updates, send),
  };
};

/** Serves admission and registers it where the settings say so; its code is loaded only then. */
const openAdmissionIf = async ({ settings, telemetry: { report }, transport }: ApiInput) => {
  if (!settings.admission) return undefined;
  const { openAdmission } = await import("../admission/process.ts");
  const admission = await openAdmission(settings, { transport, report, slices: openManySlices() });
  report("info", "dispatch: serving admission", { port: admission.port });
  return admission;
};

type Served = { readonly fetch: (request: Request, env?: object) => Response | Promise<Response> };

/** True for a call of the bell, whose path has a secret first part. */
const isRing = ({ method, url }: Request): boolean => {
  const [, , last, ...more] = new URL(url).pathname.split("/");
  return method === "POST" && last === "bell" && more.length === 0;
};

/** Adds the bell where it has a path; its code is loaded only then. `send` and `sendLater` reject in a standby. */
const withBell = async (
  api: Hono,
  { settings, telemetry: { report } }: ApiInput,
  active: () => Dispatching | undefined,
): Promise<Served & { readonly largest?: number }> => {
  const { admissionPath } = settings;
  if (admissionPath === undefined) return api;
  const [{ bellInto }, { largest }] = await Promise.all([import("../bell/function.ts"), import("../bell/app.ts")]);
  const queue: Queue = {
    send: async (...message) => await (active() ?? standby()).queue.send(...message),
    sendLater: async (...message) => await (active() ?? standby()).queue.sendLater(...message),
  };
  const bell = bellInto({ ...settings, admissionPath }, { queue, report });
  return { largest, fetch: (request, env) => (isRing(request) ? bell : api).fetch(request, env) };
};

type Turns = {
  readonly lease: Lease;
  readonly start: () => Promise<Dispatching>;
  readonly stopped: () => boolean;
  readonly pause: (ms: number) => Promise<void>;
  readonly report: DispatchParts["telemetry"]["report"];
  readonly became: (active: Dispatching | undefined) => void;
};

/** Dispatches while the lease is held; what is under way when it is lost meets the fence of its step. */
const whileHeld = async ({ lease, start, stopped, pause, report, became }: Turns): Promise<void> => {
  report("info", "dispatch: holds the lease, dispatching");
  const active = await start();
  became(active);
  while (!stopped() && lease.held()) {
    await pause(renewMs);
    await lease.attempt();
  }
  became(undefined);
  if (stopped()) await active.stop(graceMs);
  else {
    report("warn", "dispatch: the lease is lost; nothing is called until it is held again");
    await active.stop(0);
  }
};

/** Takes turns with other dispatchers until it is stopped, then lets the next one begin at once. */
export const takeTurns = async (turns: Turns): Promise<void> => {
  const { lease, stopped, pause, report } = turns;
  while (!stopped()) {
    if (await lease.attempt()) await whileHeld(turns);
    else await pause(renewMs);
  }
  await lease
    .release()
    .catch((cause: unknown) => report("debug", "cannot release the lease", { error: String(cause) }));
};

/** Runs until the process is stopped. */
export const dispatchUntil = async (env: Environment, stopped: Promise<void>): Promise<void> => {
  const settings = settingsFor("dispatch", env);
  const parts = await openParts(settings);
  const { report } = parts.telemetry;
  const trigger = openOptional(settings.triggerSecret, { report, setting: "triggerSecret" });
  await checkCallers(trigger);
  const admission = await openAdmissionIf(parts);
  const stopping = new AbortController();
  void stopped.then(() => stopping.abort());
  const holder = `${hostname()}_${randomUUID()}`;
  const lease = openLease({
    ...{ cluster: parts.cluster, namespace: settings.home, name: leaseName, holder },
    now: parts.clock.monotonic,
  });
  let active: Dispatching | undefined;
  const served = await withBell(apiApp(apiPartsOf(parts, trigger, () => active)), parts, () => active);
  const api = refusingStandby(served, () => active);
  const turning = takeTurns({
    ...{
      lease,
      report,
      start: () => startDispatching({ ...parts, mayCall: lease.held }),
      stopped: () => stopping.signal.aborted,
    },
    pause: (ms) => sleep(ms, undefined, { signal: stopping.signal }).catch(() => {}),
    became: (now) => {
      active = now;
    },
  });
  try {
    await Promise.all([serveUntil(settings, api, stopped, served.largest), turning]);
  } finally {
    await admission?.close();
    parts.agents.close();
  }
};
