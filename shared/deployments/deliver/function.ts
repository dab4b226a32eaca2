/** The delivery of status updates: the sinks, and the wiring of the deliver function. */

import type { Carrier } from "../../adapters/dispatch/carrier.ts";
import { answerOf, type BatchAnswer, recordsOf } from "../../adapters/lambda.ts";
import { eventSink, sinkOf, sqsScheme, sqsSink } from "../../adapters/sinks/all.ts";
import { type HttpsRules, httpsSink } from "../../adapters/sinks/https.ts";
import { emfMeter } from "../../adapters/telemetry/emf.ts";
import { openLines } from "../../adapters/telemetry/tracing.ts";
import type { Resource } from "../../core/object.ts";
import type { Sink } from "../../core/updates.ts";
import { readDelivery, readRecord } from "../../engine/checkpoint/record.ts";
import type { World } from "../../engine/context/world.ts";
import { openNamespaceShare } from "../../engine/load-limits.ts";
import type { Report } from "../../engine/ports.ts";
import { type Delivered, intake, postpone } from "../../engine/reconcile/intake.ts";
import { troubleOf } from "../../engine/trouble.ts";
import { resourceOf } from "../../registry/names.ts";
import { deliver } from "../../updates/deliver.ts";
import { openAccess } from "../common/cluster-access.ts";
import { openNamespaceScope } from "../common/namespaces.ts";
import { once } from "../common/once.ts";
import { provenRecords } from "../common/proven-records.ts";
import { type FunctionQueue, openFunctionQueue, pollsNats } from "../common/queues.ts";
import { openRecords } from "../common/records.ts";
import { openRuntime } from "../common/runtime.ts";
import { openOptional } from "../common/secret.ts";
import { processClock, stepFigures } from "../common/step-dependencies.ts";
import { updatesFor } from "../common/updates.ts";
import type { UrlAnswer } from "../http/dispatch-calls.ts";
import { timingOf, weightOf } from "../settings/conversions.ts";
import { type Environment, settingsFor } from "../settings/read.ts";

/** Settings about listeners. */
export type Listening = HttpsRules & {
  /** The listener where neither object nor namespace names one; "": none. */
  readonly to: string;
  /** URLs or ARNs of queues that namespaces may name; absent: none. */
  readonly queues?: readonly string[] | undefined;
};

/** A world, and the resource of each kind whose updates are delivered. */
export type DeliveryWorld = World & { readonly resourceOf: (kind: string) => Resource | undefined };

/** Returns the world of a process that runs these kinds itself. */
export const withResources = (world: World): DeliveryWorld => ({
  ...world,
  resourceOf: (kind) => world.operatorOf(kind)?.resource,
});

/** Returns the function that delivers updates to this sink. */
export const deliveryBy = (
  world: DeliveryWorld,
  listening: Pick<Listening, "to">,
  sink: Sink,
): NonNullable<World["deliver"]> => {
  const { destinationOf, listenerAt } = updatesFor(world, listening);
  const ports = { ...world, destinationOf, listenerAt, read: readRecord, readDelivery };
  return (message) => {
    const { trace } = message;
    return deliver({ ...ports, sink: (to, sentUpdate, now) => sink(to, { ...sentUpdate, trace }, now) }, message);
  };
};

/** Returns the function that delivers updates to every kind of listener. */
export const deliveryFor = (world: DeliveryWorld, listening: Listening): NonNullable<World["deliver"]> => {
  const events = eventSink(world);
  const { to, queues = [] } = listening;
  const own = to.startsWith(sqsScheme) ? [to.slice(sqsScheme.length)] : [];
  return deliveryBy(
    world,
    listening,
    sinkOf({ https: httpsSink(listening), sqs: sqsSink([...queues, ...own]), events }),
  );
};

/**
 * Handles a batch, and returns the messages that SQS must deliver again; or handles the HTTP request of a dispatcher.
 */
export type Deliver = (event: unknown, context?: unknown) => Promise<BatchAnswer | UrlAnswer>;

type Delivering = {
  /** Returns the ids of the messages that SQS must deliver again. */
  readonly take: (delivered: readonly Delivered[]) => Promise<readonly string[]>;
  /** Runs the work of a dispatcher's call, and returns what it has sent. */
  readonly during: Carrier["during"];
  /** The queue of SQS to poll; absent: NATS is polled, or a dispatcher calls. */
  readonly queue: string | undefined;
  readonly nats: FunctionQueue["nats"];
  /** Keys in work at once, of a process. */
  readonly concurrency: number;
  readonly report: Report;
};

/** Opens deliveries from the environment's settings. Nothing is connected before the first one. */
export const openDelivering = (env: Environment): Delivering => {
  const settings = settingsFor("deliver", env);
  const { updatesTo: to, updatesHosts: hosts, updatesQueues: queues, updatesAllowPrivate: allowPrivate } = settings;
  const timing = timingOf(settings);
  const telemetry = openLines(settings);
  const { report, within } = telemetry;
  const secret = openOptional(settings.updatesSecret, { report, setting: "updatesSecret" });
  const transport = telemetry.transport(openAccess(settings.clusterRecord, { userAgent: "rekindle-deliver" }));
  const { queue, during, nats } = openFunctionQueue(settings, telemetry);
  const ports = { queue, report, clock: processClock(), within };
  const meter = emfMeter((line) => console.log(line), settings.cluster, Date.now);
  const namespaceScope = openNamespaceScope({ ...settings, transport, report, now: ports.clock.monotonic });
  const world = once(async (): Promise<World> => {
    const around = { transport, cluster: settings.cluster, timeoutMs: timing.requestTimeoutMs };
    const records = openRecords(settings.checkpoints, around);
    const checkpoints = provenRecords(records.checkpoints, { secret, to }, report);
    // A delivery has a kind of its own, so this function takes steps of no kind and loads none.
    const operatorOf = (): undefined => undefined;
    return await openRuntime({
      ...{ queue, report, transport, checkpoints, timing, operatorOf },
      ...{ telemetry, clockFrom: "answered", scope: { ...settings, namespaceScope } },
      own: ({ clock }) => ({
        ...{ meter, ended: stepFigures(meter, Date.now) },
        share: openNamespaceShare({ weightOf: weightOf(settings), now: Date.now, clock: clock.monotonic }),
      }),
      more: (charged) => ({
        deliver: deliveryFor({ ...charged, resourceOf }, { to, hosts, queues, allowPrivate, secret }),
      }),
    });
  });
  const take: Delivering["take"] = async (delivered) => {
    const opened = await world().catch(troubleOf);
    return await ("reason" in opened ? postpone(ports, delivered, opened) : intake(opened, delivered));
  };
  return { take, during, queue: settings.updatesUrl, nats, concurrency: settings.concurrency, report };
};

/** Opens everything once per environment. */
export const openDeliver = async (env: Environment): Promise<Deliver> => {
  const { take, during, queue, nats, report } = openDelivering(env);
  if (nats !== undefined) throw new Error(pollsNats);
  if (queue === undefined) {
    const { answersUrl } = await import("../http/dispatch-calls.ts");
    return answersUrl({ settings: settingsFor("deliver", env), take, during, report });
  }
  return async (event) => answerOf(await take(recordsOf(event)));
};
