/**
 * Follows an event through processes: the logs, messages and API requests of a step carry the trace of its message. If
 * OpenTelemetry is set up in this process, each part is a span; otherwise its API, an optional peer that is part of no
 * bundle, is not loaded. A function logs lines on standard output, which the platform collects.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import type { SpanContext } from "@opentelemetry/api";
import type { Transport } from "../../core/http.ts";
import { begun, idOf, type Message, textOf, traceForm } from "../../core/key.ts";
import type { Checkpoints, Cluster, Queue, Report } from "../../engine/ports.ts";
import { lineReport } from "./lines.ts";

type Api = typeof import("@opentelemetry/api");

export type Span = {
  readonly name: string;
  /** W3C trace context of the parent; absent: the active one, or none. */
  readonly parent: string | undefined;
  readonly of?: Readonly<Record<string, string>>;
};

/** Runs work as a span, and passes it the trace context of that span. */
type Spans = <T>(span: Span, work: (here: string | undefined) => Promise<T>) => Promise<T>;

const mark = Symbol.for("opentelemetry.js.api.1");

const spanText = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;

const remote = (trace: string): SpanContext => {
  const [, traceId = "", spanId = "", flags = "01"] = trace.split("-");
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
};

/** Returns the context to begin in: the active one if it is the parent, or the remote parent's. */
const contextOf = ({ context, trace }: Api, parent: string | undefined) => {
  const active = context.active();
  const there = trace.getSpanContext(active);
  if (parent === undefined || (there !== undefined && spanText(there) === parent)) return active;
  return trace.setSpanContext(active, remote(parent));
};

/** Returns spans that use this API. */
const spansOf = (api: Api): Spans => {
  const tracer = api.trace.getTracer("rekindle");
  return async ({ name, parent, of = {} }, work) => {
    const from = contextOf(api, parent);
    const span = tracer.startSpan(name, { attributes: of }, from);
    const here = spanText(span.spanContext());
    try {
      return await api.context.with(api.trace.setSpan(from, span), () => work(traceForm.test(here) ? here : parent));
    } catch (cause) {
      span.recordException(cause instanceof Error ? cause : String(cause));
      span.setStatus({ code: api.SpanStatusCode.ERROR });
      throw cause;
    } finally {
      span.end();
    }
  };
};

/** Returns spans; undefined if OpenTelemetry was not set up before this call. */
export const openSpans = (): Spans | undefined => {
  if (!(mark in globalThis)) return undefined;
  try {
    // Not an import: only `require` finds the packages in Lambda's layers.
    const api: Api = createRequire(import.meta.url)("@opentelemetry/api");
    return spansOf(api);
  } catch {
    return undefined;
  }
};

type Named = { readonly parent?: string | undefined; readonly of?: Readonly<Record<string, string>> };
type Ports = { readonly cluster: Cluster; readonly checkpoints: Checkpoints };

export type Telemetry = {
  /** Runs work as a part of this name, in the given trace or the present one. */
  part<T>(name: string, work: () => Promise<T>, named?: Named): Promise<T>;
  /** Runs the work of a message in its trace. */
  within<T>(message: Message, work: () => Promise<T>): Promise<T>;
  /** Adds the id of the present trace to each line. */
  readonly report: Report;
  /** Adds a trace to each message: the present one, its own, or a new one; logs each send. */
  queue(queue: Queue): Queue;
  /** Adds the present trace to each request, also for the server's audit log. */
  transport(transport: Transport): Transport;
  /** Returns the same ports, each call a span. */
  ports<P extends Ports>(ports: P): P;
};

type Settings = {
  readonly report: Report;
  /** The level at which sends are logged. */
  readonly level: "debug" | "info";
  /** Absent: the spans of this process. */
  readonly spans?: Spans | undefined;
};

type Part = Telemetry["part"];

const clusterWith = (part: Part, cluster: Cluster): Cluster => ({
  get: (ref, only) => part("read", () => cluster.get(ref, only)),
  list: (query) => part("read", () => cluster.list(query)),
  proxyGet: (query) => part("read", () => cluster.proxyGet(query)),
  logEnd: (pod, container, mostBytes) => part("read", () => cluster.logEnd(pod, container, mostBytes)),
  create: (ref, object) => part("apply", () => cluster.create(ref, object)),
  remove: (ref, fence) => part("apply", () => cluster.remove(ref, fence)),
  evict: (ref, uid) => part("apply", () => cluster.evict(ref, uid)),
  patch: (ref, fence, fields) => part("apply", () => cluster.patch(ref, fence, fields)),
  patchStatus: (ref, version, status) => part("apply", () => cluster.patchStatus(ref, version, status)),
});

const checkpointsWith = (part: Part, checkpoints: Checkpoints): Checkpoints => ({
  ...checkpoints,
  load: (key) => part("read", () => checkpoints.load(key)),
  save: (key, record, version) => part("save", () => checkpoints.save(key, record, version)),
  remove: (key, version) => part("save", () => checkpoints.remove(key, version)),
});

/**
 * Returns an id for a request in the server's audit log; it begins with the trace id. The last group of a UUID is 48
 * random bits, which Node draws for many UUIDs at once.
 */
const requestId = (trace: string): string => `${idOf(trace)}-${randomUUID().slice(-12)}`;

export const openTelemetry = ({ report: plain, level, spans = openSpans() }: Settings): Telemetry => {
  const store = new AsyncLocalStorage<string>();
  const along = <T>(trace: string | undefined, work: () => Promise<T>): Promise<T> =>
    trace === undefined ? work() : store.run(trace, work);
  const part: Part = (name, work, { parent = store.getStore(), of } = {}) =>
    spans === undefined
      ? along(parent, work)
      : spans({ name, parent, ...(of === undefined ? {} : { of }) }, (here) => along(here, work));
  const report: Report = (at, message, fields) => {
    const trace = store.getStore();
    plain(at, message, trace === undefined ? fields : { trace: idOf(trace), ...fields });
  };
  const sent = (message: Message, id: string, send: (marked: Message) => Promise<void>, delayMs?: number) => {
    const { reason } = message;
    const of = { key: textOf(message), reason };
    const work = async (): Promise<void> => {
      const trace = store.getStore();
      await send(trace === undefined ? message : { ...message, trace });
      report(level, "sent", { ...of, ...(delayMs === undefined ? {} : { delayMs }) });
    };
    return part("enqueue", work, { parent: store.getStore() ?? message.trace ?? begun(id), of });
  };
  return {
    part,
    report,
    within: (message, work) =>
      part("step", work, { parent: message.trace, of: { key: textOf(message), reason: message.reason } }),
    queue: (queue) => ({
      send: (message, id) => sent(message, id, (marked) => queue.send(marked, id)),
      sendLater: (message, id, delayMs) =>
        sent(message, id, (marked) => queue.sendLater(marked, id, delayMs), Math.round(delayMs)),
    }),
    transport: (transport) => ({
      send: (request) => {
        const trace = store.getStore();
        if (trace === undefined) return transport.send(request);
        const headers = { ...request.headers, traceparent: trace, "audit-id": requestId(trace) };
        return transport.send({ ...request, headers });
      },
      stream: (request) => transport.stream(request),
    }),
    ports: (ports) =>
      spans === undefined
        ? ports
        : {
            ...ports,
            cluster: clusterWith(part, ports.cluster),
            checkpoints: checkpointsWith(part, ports.checkpoints),
          },
  };
};

export const openLines = ({ logLevel }: { readonly logLevel: Parameters<typeof lineReport>[0] }): Telemetry =>
  openTelemetry({ report: lineReport(logLevel), level: "info" });
