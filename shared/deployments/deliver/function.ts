/** The delivery of status updates: the sinks, and the wiring of the deliver function. */

import { answerOf, type BatchAnswer, recordsOf } from "../../adapters/lambda/batch.ts";
import { sinkOf, sqsScheme } from "../../adapters/sinks/all.ts";
import { eventSink } from "../../adapters/sinks/events.ts";
import { type HttpsRules, httpsSink } from "../../adapters/sinks/https.ts";
import { sqsSink } from "../../adapters/sinks/sqs.ts";
import { emfMeter } from "../../adapters/telemetry/emf.ts";
import type { Resource } from "../../core/object.ts";
import type { Sink } from "../../core/sink.ts";
import { type Delivered, intake, postpone } from "../../engine/intake.ts";
import type { Report } from "../../engine/ports.ts";
import { readRecord } from "../../engine/record.ts";
import { troubleOf } from "../../engine/trouble.ts";
import type { World } from "../../engine/world.ts";
import { deliver } from "../../updates/deliver.ts";
import { openAccess } from "../common/cluster-access.ts";
import { openLines } from "../common/function-log.ts";
import { openNamespaceScope } from "../common/namespaces.ts";
import { once } from "../common/once.ts";
import { operatorsFor } from "../common/operators.ts";
import { openRecords } from "../common/records.ts";
import { scopeCheckOf } from "../common/scope.ts";
import { openOptional } from "../common/secret.ts";
import { queueOn } from "../common/sqs-sender.ts";
import { openWorld, operatorsByKind, processClock } from "../common/step-dependencies.ts";
import { updatesFor } from "../common/updates.ts";
import { timingOf } from "../settings/conversions.ts";
import { type Environment, settingsFor } from "../settings/read.ts";

/** Settings about listeners. */
export type Listening = HttpsRules & {
  /** The listener where neither object nor namespace names one; "": none. */
  readonly to: string;
  /** URLs or ARNs of queues that namespaces may name; absent: none. */
  readonly queues?: readonly string[] | undefined;
};

const resourcesOf =
  ({ operatorOf }: World) =>
  (kind: string): Resource | undefined =>
    operatorOf(kind)?.resource;

/** Returns the function that delivers updates to this sink. Of the world's kinds it uses only their resources. */
export const deliveryBy = (
  world: World,
  listening: Pick<Listening, "to">,
  sink: Sink,
): NonNullable<World["deliver"]> => {
  const { destinationOf } = updatesFor(world, listening);
  const desk = { ...world, resourceOf: resourcesOf(world), destinationOf, operators: listening.to, read: readRecord };
  return (message) => {
    const { trace } = message;
    return deliver({ ...desk, sink: (to, parcel, now) => sink(to, { ...parcel, trace }, now) }, message);
  };
};

/** Returns the function that delivers updates to every kind of listener. */
export const deliveryFor = (world: World, listening: Listening): NonNullable<World["deliver"]> => {
  const events = eventSink({ cluster: world.cluster, resourceOf: resourcesOf(world) });
  const { to, queues = [] } = listening;
  const own = to.startsWith(sqsScheme) ? [to.slice(sqsScheme.length)] : [];
  return deliveryBy(
    world,
    listening,
    sinkOf({ https: httpsSink(listening), sqs: sqsSink([...queues, ...own]), events }, to),
  );
};

/** Handles a batch, and returns the messages that SQS must deliver again. */
export type Deliver = (event: unknown) => Promise<BatchAnswer>;

type Delivering = {
  /** Returns the ids of the messages that SQS must deliver again. */
  readonly take: (delivered: readonly Delivered[]) => Promise<readonly string[]>;
  readonly queue: string;
  /** Keys in work at once, of a process. */
  readonly concurrency: number;
  readonly report: Report;
};

/** Opens deliveries from the environment's settings. Nothing is connected before the first one. */
export const openDelivering = (env: Environment): Delivering => {
  const settings = settingsFor("deliver", env);
  const { updatesTo: to, updatesHosts: hosts, updatesQueues: queues, updatesAllowPrivate: allowPrivate } = settings;
  const timing = timingOf(settings);
  const trail = openLines(settings);
  const { report, within } = trail;
  const secret = openOptional(settings.updatesSecret, { report, setting: "updatesSecret" });
  const transport = trail.transport(openAccess(settings.clusterRecord, { userAgent: "rekindle-deliver" }));
  const desk = { queue: queueOn(settings, trail), report, clock: processClock(), within };
  const meter = emfMeter((line) => console.log(line), Date.now);
  const territory = openNamespaceScope({ ...settings, transport, report, now: desk.clock.monotonic });
  const world = once(async (): Promise<World> => {
    const around = { transport, cluster: settings.cluster, timeoutMs: timing.requestTimeoutMs };
    const { checkpoints } = openRecords(settings.checkpoints, around);
    const opened = trail.ports(
      await openWorld({ ...desk, transport, checkpoints, timing, operatorOf: operatorsByKind(operatorsFor(timing)) }),
    );
    const charged = { ...opened, within, meter, inCharge: scopeCheckOf({ ...settings, territory }) };
    return { ...charged, deliver: deliveryFor(charged, { to, hosts, queues, allowPrivate, secret }) };
  });
  const take: Delivering["take"] = async (delivered) => {
    const opened = await world().catch(troubleOf);
    return await ("reason" in opened ? postpone(desk, delivered, opened) : intake(opened, delivered));
  };
  return { take, queue: settings.updatesUrl, concurrency: settings.concurrency, report };
};

/** Opens everything once per environment. */
export const openDeliver = async (env: Environment): Promise<Deliver> => {
  const { take } = openDelivering(env);
  return async (event) => answerOf(await take(recordsOf(event)));
};
