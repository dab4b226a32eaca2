/** Batches of a function that takes steps: flat cluster record, SQS to send with, JSON lines to report with. */

import type { Carrier } from "../../adapters/dispatch/carrier.ts";
import { openEnclosed } from "../../adapters/dispatch/enclosed.ts";
import { answerOf, type BatchAnswer, recordsOf, remainingMsOf } from "../../adapters/lambda.ts";
import { openLines } from "../../adapters/telemetry/tracing.ts";
import type { Transport } from "../../core/http.ts";
import type { World } from "../../engine/context/world.ts";
import { openNamespaceShare, openSlots } from "../../engine/load-limits.ts";
import type { Enclosure, Report } from "../../engine/ports.ts";
import { type Delivered, intake, postpone } from "../../engine/reconcile/intake.ts";
import { decisionBudgetMs } from "../../engine/settings.ts";
import { troubleOf } from "../../engine/trouble.ts";
import { openCursors } from "../../forward/cursors.ts";
import { openAccess } from "../common/cluster-access.ts";
import { openDecisionLog } from "../common/decision-log.ts";
import { type NamespaceScope, openNamespaceScope } from "../common/namespaces.ts";
import { once } from "../common/once.ts";
import { provenRecords } from "../common/proven-records.ts";
import { type FunctionQueue, openFunctionQueue, pollsNats } from "../common/queues.ts";
import { openRecords } from "../common/records.ts";
import { openRuntime } from "../common/runtime.ts";
import { openOptional } from "../common/secret.ts";
import { openSlices } from "../common/slices.ts";
import { openStandby, sightingOver, standbyOfSteps } from "../common/standby.ts";
import { processClock, quarantineFor, stepFigures } from "../common/step-dependencies.ts";
import type { UrlAnswer } from "../http/dispatch-calls.ts";
import { lookoutOf, recoverySettingsOf, sparkOptionsOf, timingOf, weightOf } from "../settings/conversions.ts";
import type { Settings } from "../settings/read.ts";
import type { Families } from "./families.ts";

/**
 * Handles a batch, and returns the messages that SQS must deliver again; or handles the HTTP request of a dispatcher.
 */
export type Reconcile = (event: unknown, context?: unknown) => Promise<BatchAnswer | UrlAnswer>;

/** Time that a step may need after its last new call: requests in flight, its status, its sends. */
const reserveMs = 10_000;
const shortestMs = 5_000;

/** Bounds the step's time, so that it ends before the environment is stopped. */
const withDeadline = (world: World, remainingMs: number): World => {
  const left = remainingMs - reserveMs;
  if (left < shortestMs)
    world.report("warn", "too little time is left for a step: set a timeout of 30 s", { remainingMs });
  return { ...world, timing: { ...world.timing, stepMs: Math.min(world.timing.stepMs, Math.max(0, left)) } };
};

/** Returns the ids of the messages that SQS must deliver again. */
export type HandleBatch = (
  delivered: readonly Delivered[],
  remainingMs: number,
  enclosure?: Enclosure,
) => Promise<readonly string[]>;

/**
 * Opens status updates; loaded only where a queue for deliveries is set, or a dispatcher calls. Requests for deliveries
 * that travel in the answer to a dispatcher may be lost.
 */
const updatesPort = async (world: World, to: string, called: boolean): Promise<Pick<World, "updates">> => {
  const { updatesFor } = await import("../common/updates.ts");
  return { updates: { ...updatesFor(world, { to }), asksAgain: called } };
};

/** Opens notices and evictions; each is loaded only with the first one. */
const othersFor = (
  world: World,
  namespaces: readonly string[],
  families: Settings<"reconcile">["families"],
): Pick<World, "notice" | "evicted"> => ({
  notice: async (message) => (await import("../../forward/node-notice.ts")).noticing({ ...world, namespaces })(message),
  evicted: async (message) => {
    const { evictionsOf } = await import("../common/evictions.ts");
    return await evictionsOf(world, families)(message);
  },
});

type Surroundings = {
  readonly settings: Settings<"reconcile">;
  readonly opened: World;
  readonly transport: Transport;
  readonly namespaceScope: NamespaceScope;
  readonly families: Families;
  readonly report: Report;
};

/** Opens standby, by the record of other controllers that all functions share. */
const standbyOf = ({
  settings,
  opened,
  transport,
  namespaceScope,
  families,
  report,
}: Surroundings): NonNullable<World["standby"]> => {
  const { cluster, clusterUid, clock } = opened;
  const { cluster: alias, home } = settings;
  const lookout = lookoutOf(settings);
  const { checkpoints } = openRecords(settings.checkpoints, { transport, cluster: alias, home });
  const cursors = openCursors({ checkpoints, clusterUid, report });
  const looking = { alias, namespaces: namespaceScope.watched, operators: families.kinds, cluster, cursors, lookout };
  const sighter = sightingOver({ ...looking, report })?.sighter;
  const now = clock.monotonic;
  const { signs } = openStandby({ lookout, operators: families.kinds, report, cluster, sighter, now });
  return standbyOfSteps(signs, Date.now);
};

/** Opens the recording of decisions. */
const recordingFor = (settings: Settings<"reconcile">, report: Report): Pick<World, "recording"> => {
  const { recordDecisions: mode, gang, gangEvict, controllerNamespaces, queueCommandNamespaces } = settings;
  const queues = { gang, gangEvict, controllerNamespaces, queueCommandNamespaces };
  const on = { timing: timingOf(settings), spark: sparkOptionsOf(settings), queues };
  return openDecisionLog({ report, mode, settings: on, now: Date.now });
};

export type BatchParts = Pick<Settings<"reconcile">, "fifoUrl" | "concurrency"> & {
  readonly take: HandleBatch;
  /** Runs the work of a dispatcher's call, and returns what it has sent. */
  readonly during: Carrier["during"];
  /** The queues of NATS; absent: the function has none there. */
  readonly nats: FunctionQueue["nats"];
  readonly report: Report;
};

/** Opens the taking of batches. Nothing is connected before the first delivery. */
export const openBatches = (settings: Settings<"reconcile">, families: Families): BatchParts => {
  const timing = timingOf(settings);
  const tracing = openLines(settings);
  const { report, within } = tracing;
  const transport = tracing.transport(openAccess(settings.clusterRecord, { userAgent: "rekindle-reconcile" }));
  const { queue, during, called, nats } = openFunctionQueue(settings, tracing);
  const requeueing = { queue, report, clock: processClock(), within };
  const around = { transport, cluster: settings.cluster, timeoutMs: timing.requestTimeoutMs };
  const secret = openOptional(settings.updatesSecret, { report, setting: "updatesSecret" });
  const records = openRecords(settings.checkpoints, around);
  const checkpoints = provenRecords(records.checkpoints, { secret, to: settings.updatesTo }, report);
  const turns = openSlots(settings.maxSubmissions);
  const now = requeueing.clock.monotonic;
  const namespaceScope = openNamespaceScope({ ...settings, transport, report, now });
  const enclosed = openEnclosed(settings.cluster);
  const isTold = settings.updatesUrl !== undefined || nats !== undefined || called;
  const world = once(async () => {
    const { emfMeter } = await import("../../adapters/telemetry/emf.ts");
    const meter = emfMeter((line) => console.log(line), settings.cluster, Date.now);
    return await openRuntime({
      ...{ queue, report, transport, checkpoints, timing, recovery: recoverySettingsOf(settings) },
      ...{
        operatorOf: families.operatorOf,
        telemetry: tracing,
        clockFrom: "sent",
        scope: { ...settings, namespaceScope },
      },
      own: (opened) => ({
        ...{ meter, ended: stepFigures(meter, Date.now), turns, enclosed: enclosed.find },
        quarantine: quarantineFor(decisionBudgetMs.function, openSlices()),
        share: openNamespaceShare({ weightOf: weightOf(settings), now: Date.now, clock: now }),
        standby: standbyOf({ settings, opened, transport, namespaceScope, families, report }),
        ...recordingFor(settings, report),
      }),
      more: async (charged) => ({
        ...othersFor(charged, namespaceScope.watched, settings.families),
        ...(isTold ? await updatesPort(charged, settings.updatesTo, called) : {}),
      }),
    });
  });
  const take: HandleBatch = async (delivered, remainingMs, enclosure) => {
    const [opened] = await Promise.all([world().catch(troubleOf), families.prepare(delivered)]);
    // Without the cluster's identity no step may run; its messages are sent again later, so that they do not block
    // their message groups.
    if ("reason" in opened) return await postpone(requeueing, delivered, opened);
    return await enclosed.within(enclosure, () => intake(withDeadline(opened, remainingMs), delivered));
  };
  const { fifoUrl, concurrency } = settings;
  return { take, during, fifoUrl, nats, concurrency, report };
};

/** Opens what a platform calls: with batches of the FIFO queue, or with the requests of a dispatcher. */
export const openHandler = async (settings: Settings<"reconcile">, families: Families): Promise<Reconcile> => {
  const { take, during, fifoUrl, nats, report } = openBatches(settings, families);
  if (nats !== undefined) throw new Error(pollsNats);
  if (fifoUrl === undefined) {
    const { answersUrl } = await import("../http/dispatch-calls.ts");
    return answersUrl({ settings, take, during, report });
  }
  return async (event, context) => answerOf(await take(recordsOf(event), remainingMsOf(context)));
};
