/**
 * Follows an event through processes: what a step reports, sends and asks of the API server carries the trace of the
 * message that called for it, and where OpenTelemetry is set up each part is a span.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { randomBytes } from "node:crypto";
import type { Transport } from "../../core/http.ts";
import { type Message, textOf } from "../../core/key.ts";
import { begun, idOf } from "../../core/trace.ts";
import type { Checkpoints, Cluster, Queue, Report } from "../../engine/ports.ts";
import { openSpans, type Spans } from "./spans.ts";

type Named = { readonly parent?: string | undefined; readonly of?: Readonly<Record<string, string>> };
type Ports = { readonly cluster: Cluster; readonly checkpoints: Checkpoints };

export type Trail = {
  /** Runs work as a part of this name: of the trace given, or of the one that is in force. */
  part<T>(name: string, work: () => Promise<T>, named?: Named): Promise<T>;
  /** Runs what a message calls for. */
  within<T>(message: Message, work: () => Promise<T>): Promise<T>;
  /** Each line has the id of the trace in force. */
  readonly report: Report;
  /** Each message has the trace in force, or its own, or begins one; each send is a line. */
  queue(queue: Queue): Queue;
  /** Each request says which trace it belongs to, also to the server's audit log. */
  transport(transport: Transport): Transport;
  /** The same, each call a span. */
  ports<P extends Ports>(ports: P): P;
};

type Settings = {
  readonly report: Report;
  /** At which level sends are told. */
  readonly level: "debug" | "info";
  /** Absent: those of this process. */
  readonly spans?: Spans | undefined;
};

type Part = Trail["part"];

const clusterWith = (part: Part, cluster: Cluster): Cluster => ({
  get: (ref) => part("read", () => cluster.get(ref)),
  list: (query) => part("read", () => cluster.list(query)),
  proxyGet: (query) => part("read", () => cluster.proxyGet(query)),
  create: (ref, object) => part("apply", () => cluster.create(ref, object)),
  remove: (ref, fence) => part("apply", () => cluster.remove(ref, fence)),
  patch: (ref, fence, fields) => part("apply", () => cluster.patch(ref, fence, fields)),
  patchStatus: (ref, version, status) => part("apply", () => cluster.patchStatus(ref, version, status)),
});

const checkpointsWith = (part: Part, checkpoints: Checkpoints): Checkpoints => ({
  ...checkpoints,
  load: (key) => part("read", () => checkpoints.load(key)),
  save: (key, record, version) => part("save", () => checkpoints.save(key, record, version)),
  remove: (key, version) => part("save", () => checkpoints.remove(key, version)),
});

/** A request's own id in the server's audit log begins with the trace's. */
const requestId = (trace: string): string => `${idOf(trace)}-${randomBytes(6).toString("hex")}`;

export const openTrail = ({ report: plain, level, spans = openSpans() }: Settings): Trail => {
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
