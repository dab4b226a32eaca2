/**
 * The host as a process: it prints its cluster, stands by where another controller leads, serves health, and drains
 * when it is stopped.
 */
import { openJournal } from "../../adapters/journal.ts";
import { clusterFromRecord, findCluster, whyUnreachable } from "../../adapters/kubernetes/kubeconfig.ts";
import { takingTurns } from "../../adapters/kubernetes/turns.ts";
import { pinoReport } from "../../adapters/telemetry/log.ts";
import type { Identify } from "../../api/callers.ts";
import { ApiError, type Transport } from "../../core/http.ts";
import { digest, type Key } from "../../core/key.ts";
import { errorText } from "../../core/text.ts";
import type { Journal, Report } from "../../engine/ports.ts";
import type { Standing } from "../../forward/controller-detection.ts";
import { openRates } from "../../inspection/rates.ts";
import { plurals } from "../../registry/names.ts";
import { type Acknowledging, acknowledgingFor, checkCallers, identifyBy } from "../common/authentication.ts";
import { once } from "../common/once.ts";
import { natsFor } from "../common/queues.ts";
import { whyUnkept } from "../common/records.ts";
import { openOptional, type Secret } from "../common/secret.ts";
import { openSignIn } from "../common/sign-in.ts";
import { openManySlices } from "../common/slices.ts";
import { lookoutFor } from "../common/standby.ts";
import type { Listening } from "../deliver/function.ts";
import { addressOf } from "../http/address.ts";
import { requestListener } from "../http/process.ts";
import { listenAt, openPort } from "../http/server.ts";
import type { ServedPage } from "../page/host.ts";
import type { Reader } from "../read-api/reader.ts";
import { namingOf, recoverySettingsOf, sparkOptionsOf, timingOf, weightOf } from "../settings/conversions.ts";
import { readConfiguration } from "../settings/host.ts";
import type { Configuration } from "../settings/table.ts";
import { shadowFor } from "./dry-run.ts";
import { type Scrape, withProcess } from "./metrics.ts";
import { mayBegin, missing, scopeText } from "./preconditions.ts";
import { type Host, type HostSettings, startHost } from "./start.ts";

/** The parts of the HTTP API. */
export type ApiParts = {
  readonly ready: () => boolean;
  /** The other controllers beside which nothing is written; absent: this process does not know. */
  readonly standing?: (() => Promise<Standing>) | undefined;
  readonly kinds: () => readonly string[];
  readonly trigger: (key: Omit<Key, "cluster">, eventId: string) => Promise<void>;
  /** Metrics in the Prometheus text format; absent where there are none. */
  readonly scrape?: (() => Promise<Scrape>) | undefined;
  /** True: only callers with the ability `read` in all namespaces get metrics. */
  readonly guarded?: boolean;
  /** Puts a notice that a node is about to go onto the queue; `until` in epoch ms. */
  readonly notice: (node: string, until: number | undefined, eventId: string) => Promise<void>;
  /** Kinds by the plural of their resource. */
  readonly plurals: Readonly<Record<string, string>>;
  /** Absent: the read API is off. */
  readonly reader?: Reader | undefined;
  /** Identifies the caller. Undefined without a secret: triggers and reads are off. */
  readonly identify: Identify | undefined;
  /** The page, for callers with the ability `read`; absent: it is off. */
  readonly page?: (() => Promise<ServedPage>) | undefined;
  /** Absent: a listener acknowledges only by its answer to the update. */
  readonly acknowledging?: Acknowledging | undefined;
};

type HttpListener = (parts: ApiParts) => { fetch: (request: Request) => Response | Promise<Response> };

export type Process = {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly listener: HttpListener;
  readonly print: (line: string) => void;
  readonly warn: (line: string) => void;
  /** True: the output is a terminal. */
  readonly isTerminal?: boolean;
  /** Absent: structured lines on standard error. */
  readonly report?: Report;
  /** Resolves when the process is to stop. */
  readonly stopped: Promise<unknown>;
};

/** Reads the settings and runs until the process is stopped. Returns the exit code. */
export const runHost = async (process: Process): Promise<number> => {
  const read = await readConfiguration(process.args, process.env);
  switch (read.do) {
    case "print":
      process.print(read.text);
      return 0;
    case "refuse":
      for (const problem of read.problems) process.warn(problem);
      return 1;
    case "run":
      for (const note of read.notes) process.warn(note);
      return await run(process, read.configuration);
  }
};

const run = async (process: Process, configuration: Configuration): Promise<number> => {
  const { kubeconfig: path, context, concurrency } = configuration;
  const report = reportOf(process, configuration);
  const secret = openOptional(configuration.triggerSecret, { report, setting: "triggerSecret" });
  await checkCallers(secret);
  const signIn = openSignIn(configuration, secret, report);
  const listening = await listeningOf(configuration, report);
  const record = await findCluster({ path, context, env: process.env });
  const maxSockets = Math.max(32, concurrency * 2);
  const { transport } = clusterFromRecord(record, { maxSockets, timeoutMs: configuration.timeoutMs });
  process.print(`rekindle host: context ${record.context}, ${record.endpoint.server}, ${scopeText(configuration)}`);
  try {
    const kept = configuration.checkpoints;
    const refusal =
      (await whyUnreachable(transport, record)) ??
      (await whyUnkept(kept, { transport, cluster: configuration.cluster }));
    if (refusal !== undefined) {
      process.warn(refusal);
      return 1;
    }
    if (!(await mayBegin(process.warn, configuration, transport, kept.in !== "kubernetes"))) return 1;
    for (const name of await missing(transport, configuration.namespaces))
      process.warn(`namespace ${name} does not exist: objects that are created in it later are run`);
    const lookout = lookoutFor(transport, configuration, (line) => process.warn(line));
    const journal = journalIn(configuration, report);
    const page = signIn && (await import("../page/host.ts")).openHostPage(configuration, transport, signIn, report);
    const rates = page?.rates ?? openRates(transport, configuration.prices, () => performance.now());
    await work(
      process,
      configuration,
      {
        ...settingsOf(process, configuration, transport),
        ...{ lookout, rates, listening, journal },
        ...{ see: page?.board.see, gone: page?.board.gone, recorded: page?.board.recorded },
      },
      { trigger: secret, page },
    );
    process.print("rekindle host: stopped");
    return 0;
  } catch (cause) {
    if (!(cause instanceof ApiError)) throw cause;
    process.warn(`rekindle host: cannot start: ${cause.message}`);
    return 1;
  } finally {
    transport.close();
  }
};

/** Opens everything, serves until the process is stopped, and closes in reverse order. */
const work = async (
  process: Process,
  configuration: Configuration,
  settings: HostSettings,
  { trigger, page }: Pick<Serving, "trigger" | "page">,
): Promise<void> => {
  const admission = await admit(process, configuration, settings);
  try {
    const host = await startHost(settings);
    try {
      const { transport, listening } = settings;
      await serve(process, configuration, host, { transport, trigger, page, updates: listening?.secret });
    } finally {
      await host.drain(configuration.stepMs);
    }
  } finally {
    await admission?.close();
  }
};

/** Opens admission where the settings enable it; its code is loaded only then. A dry run registers nothing. */
const admit = async (process: Process, configuration: Configuration, { transport, report, slices }: HostSettings) => {
  if (!configuration.admission) return undefined;
  if (configuration.dryRun) {
    process.warn("admission is not served in a dry run, because registering it is a write");
    return undefined;
  }
  const { openAdmission } = await import("../admission/process.ts");
  const admission = await openAdmission(configuration, { transport, report, slices });
  process.print(`rekindle host: serving admission on port ${admission.port}`);
  return admission;
};

const journalIn = ({ stateDirectory: folder, dryRun }: Configuration, report: Report): Journal | undefined => {
  if (folder === undefined || dryRun) return undefined;
  try {
    return openJournal(folder, report);
  } catch (cause) {
    const why = errorText(cause);
    throw new Error(`state-directory ${folder} cannot be written (${why})`);
  }
};

const settingsOf = (process: Process, configuration: Configuration, transport: Transport): HostSettings => {
  const { cluster, namespaces, namespaceSelector, selector, concurrency, maxSubmissions, resyncMs, dryRun } =
    configuration;
  const weight = weightOf(configuration);
  return {
    transport: takingTurns(transport, { weightOf: weight }),
    report: reportOf(process, configuration),
    cluster,
    namespaces,
    namespaceSelector,
    selector: selector === "" ? undefined : selector,
    spark: sparkOptionsOf(configuration),
    gang: configuration.gang,
    gangEvict: configuration.gangEvict,
    controllerNamespaces: configuration.controllerNamespaces,
    queueCommandNamespaces: configuration.queueCommandNamespaces,
    families: configuration.families,
    naming: namingOf(configuration),
    gauges: configuration.gauges,
    watchNodes: configuration.watchNodes,
    patientMs: configuration.newsWaitMs,
    timing: timingOf(configuration),
    place: configuration.checkpoints,
    home: configuration.home,
    recovery: recoverySettingsOf(configuration),
    concurrency,
    maxSubmissions,
    weightOf: weight,
    resyncMs,
    slices: openManySlices(),
    visibilityMs: 90_000,
    recordDecisions: configuration.recordDecisions,
    nats: natsOf(configuration, reportOf(process, configuration)),
    ...(dryRun ? shadowFor(process, configuration.output) : { shadow: undefined }),
  };
};

const natsOf = (configuration: Configuration, report: Report): HostSettings["nats"] => {
  if (configuration.queue !== "nats") return undefined;
  if (configuration.natsUrl === undefined)
    throw new Error("queue nats needs the setting natsUrl: set REKINDLE_NATS_URL");
  return natsFor(configuration, report);
};

const reportOf = (process: Process, { logLevel }: Configuration): Report => process.report ?? pinoReport(logLevel);

const listeningOf = async (configuration: Configuration, report: Report): Promise<Listening> => {
  const secret = openOptional(configuration.updatesSecret, { report, setting: "updatesSecret" });
  // A secret that cannot be read stops the start, not the first update.
  await secret?.();
  const {
    updatesTo: to,
    updatesHosts: hosts,
    updatesQueues: queues,
    updatesAllowPrivate: allowPrivate,
  } = configuration;
  return { to, hosts, queues, allowPrivate, secret };
};

type Serving = {
  readonly transport: Transport;
  readonly trigger: Secret | undefined;
  readonly updates: Secret | undefined;
  readonly page: ServedPage | undefined;
};

/** Opens the read API, whose code is loaded with its first request. */
const readerOf = (transport: Transport, kept: Configuration["checkpoints"], cluster: string): Reader => {
  const open = once(async () => {
    const { openReader, tableIn } = await import("../read-api/reader.ts");
    return openReader({ transport, table: tableIn(kept, cluster) });
  });
  return {
    list: async (...query) => await (await open()).list(...query),
    find: async (named) => await (await open()).find(named),
  };
};

/** Serves the HTTP API until the process is stopped. */
const serve = async (
  process: Process,
  { listen, cluster, checkpoints, metricsFor }: Configuration,
  { ready, standing, unheard, kinds, trigger, notice, scrape, send, depth }: Host,
  { trigger: secret, updates, transport, page }: Serving,
): Promise<void> => {
  const health = { ready, standing: async () => standing() };
  const app = process.listener({
    ...health,
    kinds,
    scrape: withProcess(scrape),
    guarded: metricsFor === "callers",
    trigger: (key, event) => trigger(key, digest(event)),
    notice,
    reader: readerOf(transport, checkpoints, cluster),
    plurals,
    identify: identifyBy(secret, process.report ?? pinoReport("warn")),
    acknowledging: acknowledgingFor(cluster, updates, send),
    page: page === undefined ? undefined : async () => ({ ...page, ...health, unheard: async () => unheard(), depth }),
  });
  const server = openPort(requestListener(app.fetch));
  const address = addressOf(listen);
  const port = await listenAt(server, address, "; set --listen");
  process.print(
    `rekindle host: serving http://${address.hostname}:${port}/healthz /readyz /metrics${secret === undefined ? "" : " /reconcile /page"}`,
  );
  await process.stopped;
  process.print("rekindle host: draining");
  server.close();
};
