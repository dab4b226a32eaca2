/**
 * Runs the kinds of another package, in a host and in functions. These have the wiring that serves Rekindle's own kinds;
 * only the kinds are others.
 */
import { clusterFromRecord, findCluster } from "../../adapters/kubernetes/kubeconfig.ts";
import { pinoReport } from "../../adapters/telemetry/log.ts";
import type { Transport } from "../../core/http.ts";
import type { Key } from "../../core/key.ts";
import { keyKindOf } from "../../core/object.ts";
import type { Operator } from "../../core/operator.ts";
import type { Report } from "../../engine/ports.ts";
import { timing } from "../../engine/settings.ts";
import { defaultOptions } from "../../spark/auxiliary-objects/options.ts";
import { once } from "../common/once.ts";
import { openManySlices } from "../common/slices.ts";
import { operatorsByKind } from "../common/step-dependencies.ts";
import { openForward } from "../forward/function.ts";
import type { HostKinds } from "../host/kinds.ts";
import { openHost } from "../host/single-process.ts";
import { openHandler } from "../reconcile/batch-handler.ts";
import type { Families } from "../reconcile/families.ts";
import { openResync } from "../resync/function.ts";
import { settingsFor } from "../settings/read.ts";

export type OwnKinds = {
  /** The kinds to run, each with its decisions and its watches. */
  readonly kinds: readonly Operator<unknown>[];
};

export type HostOptions = OwnKinds & {
  /** The way to the API server; absent: that of the kubeconfig, or of the pod's service account. */
  readonly transport?: Transport;
  /** Alias of the cluster in keys; absent: `default`. */
  readonly cluster?: string;
  /** Namespaces to watch; absent: all. */
  readonly namespaces?: readonly string[];
  /** Label selector of the objects to run; absent: all. */
  readonly selector?: string;
  /** Steps at once; absent: 16. */
  readonly concurrency?: number;
  /** The interval of resyncs, ms; absent: five minutes. */
  readonly resyncMs?: number;
  /** Receives log lines; absent: warnings and errors are JSON lines on standard error. */
  readonly report?: Report;
};

export type FunctionOptions = OwnKinds & {
  /** The settings of the function of that name, `REKINDLE_…`; absent: the environment of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
};

/** A host at work. */
export type OwnHost = {
  /** True once every watch has listed its objects and a resync has succeeded. */
  ready(): boolean;
  /** Requests a step of this key. An event id that was seen in the last five minutes is ignored. */
  trigger(key: Omit<Key, "cluster">, eventId: string): Promise<void>;
  /** Messages that wait, timers, and steps under way. */
  depth(): Promise<{ readonly ready: number; readonly delayed: number; readonly busy: number }>;
  /** Stops watching, finishes the steps in flight within this time, and resolves. */
  drain(graceMs: number): Promise<void>;
};

/** Takes the event of a platform, and returns the answer that the platform expects: of SQS, the messages to deliver again. */
export type OwnHandler = (event: unknown, context?: unknown) => Promise<object>;

/** Returns the kinds as a deployment takes them: all of them are loaded. */
const familiesOf = (kinds: readonly Operator<unknown>[]): Families => ({
  kinds: kinds.map(({ resource, family = resource.group }) => ({ kind: keyKindOf(resource), resource, family })),
  operatorOf: operatorsByKind(kinds),
  load: async () => {},
  prepare: async () => {},
});

const hostKindsOf = (kinds: readonly Operator<unknown>[]): HostKinds => ({
  families: familiesOf(kinds),
  operators: kinds,
  watcherOf: operatorsByKind(kinds),
});

type Way = { readonly transport: Transport; readonly close?: () => void };

const connect = async (): Promise<Way> => {
  const record = await findCluster({ env: process.env });
  const { transport } = clusterFromRecord(record, { maxSockets: 32, timeoutMs: timing.requestTimeoutMs });
  return { transport, close: transport.close };
};

const wayOf = async (transport: Transport | undefined): Promise<Way> =>
  transport === undefined ? await connect() : { transport };

/**
 * Starts a host of these kinds: watches, queue, steps, timers and resyncs in this process. Records are `Checkpoint`
 * objects, whose definition `rekindle manifests` prints. `drain` of the result stops the host.
 */
export const runHost = async ({ kinds, ...options }: HostOptions): Promise<OwnHost> => {
  const { transport, close } = await wayOf(options.transport);
  const { cluster = "default", namespaces = [], selector } = options;
  const { concurrency = 16, resyncMs = 300_000, report = pinoReport("warn") } = options;
  const limits = { timing, concurrency, maxSubmissions: concurrency, resyncMs, visibilityMs: 90_000 };
  const host = await openHost(
    {
      ...{ transport, report, cluster, namespaces, selector, ...limits },
      ...{ slices: openManySlices(), gauges: false, spark: defaultOptions, shadow: undefined },
    },
    hostKindsOf(kinds),
  );
  const { ready, trigger, depth, drain } = host;
  return { ready, trigger, depth, drain: (graceMs) => drain(graceMs).finally(close) };
};

/** The handler of a function whose parts are opened with the first event. */
const opening = (open: () => Promise<OwnHandler>): OwnHandler => {
  const wiring = once(open);
  return async (event, context) => (await wiring())(event, context);
};

/**
 * Returns the handler of a function of these kinds: for Lambda with an SQS queue, or for the calls of a dispatcher, as
 * the settings say. Nothing is read or connected before the first event.
 */
export const handler = ({ kinds, env = process.env }: FunctionOptions): OwnHandler =>
  opening(() => openHandler(settingsFor("reconcile", env), familiesOf(kinds)));

/** Returns the handler that watches these kinds for a window, and sends their keys to the queue. */
export const forwardHandler = ({ kinds, env = process.env }: FunctionOptions): OwnHandler =>
  opening(() => openForward(env, kinds));

/** Returns the handler that finds unfinished keys of these kinds, and sends them to the queue. */
export const resyncHandler = ({ kinds, env = process.env }: FunctionOptions): OwnHandler =>
  opening(() => openResync(env, kinds));
