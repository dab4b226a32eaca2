/**
 * A host on a simulated cluster under mocked time, with its requests, writes and log lines. `node:test` mocks the
 * host's timers and dates, so that both clocks advance together.
 */

import { it, mock } from "node:test";
import { mergeObject, request } from "../../../shared/adapters/kubernetes/requests.ts";
import type { HttpRequest, Transport } from "../../../shared/core/http.ts";
import { isRecord } from "../../../shared/core/json.ts";
import { apiVersionOf, type Obj, type Resource, type Stored } from "../../../shared/core/object.ts";
import { type Host, type HostSettings, startHost } from "../../../shared/deployments/host/start.ts";
import type { Report } from "../../../shared/engine/ports.ts";
import { slicesOf } from "../../../shared/engine/quarantine.ts";
import { timing } from "../../../shared/engine/settings.ts";
import { collectionPath, objectPath } from "../../../shared/kube/paths.ts";

import { openSimulator, type Simulator } from "../../../shared/simulator/open.ts";
import { defaultOptions } from "../../../shared/spark/auxiliary-objects/options.ts";
import { crds } from "../../support/crds.ts";
import { at, resources } from "./objects.ts";
import { type Fault, openWay } from "./way.ts";

export type Line = { readonly level: string; readonly message: string; readonly fields: Record<string, unknown> };

type Options = Parameters<typeof openSimulator>[0] & {
  /** Each answer takes a different time, so that two hosts meet in the middle of a step. */
  readonly slow?: boolean;
};

export type Stand = {
  readonly simulator: Simulator;
  readonly lines: readonly Line[];
  /** Requests of hosts, as `METHOD path`. */
  readonly asked: readonly string[];
  /** Requests of hosts that write. */
  writes(): readonly string[];
  host(settings?: Partial<HostSettings>): Promise<Host>;
  /** Sets the fault between all hosts and the server; undefined removes it. */
  fault(fault: Fault | undefined): void;
  /** Ends all watches of hosts. */
  cut(): void;
  /** Advances time in steps of 100 ms, with everything that becomes due on the way. */
  turn(ms: number): Promise<void>;
  /** Advances time in steps of 1 s. */
  pass(hours: number): Promise<void>;
  /** Advances time until the condition holds; throws after `ms` (300 s by default). */
  until(what: string, isSo: () => boolean, ms?: number): Promise<void>;
  /** Stops all hosts and restores real time. */
  close(): Promise<void>;
  create(object: Obj): Promise<void>;
  patch(kind: string, name: string, change: unknown, namespace?: string): Promise<void>;
  remove(kind: string, name: string, namespace?: string): Promise<void>;
  get(kind: string, name: string, namespace?: string): Stored | undefined;
  all(kind: string): readonly Stored[];
};

const stepMs = 100;

const resourceOf = (kind: string): Resource => {
  const found = resources[kind];
  if (found === undefined) throw new Error(`the stand knows no ${kind}`);
  return found;
};

const start = Date.UTC(2026, 10, 2, 8, 0, 0);

const isStoredOf = (kind: string, found: unknown): found is Stored => isRecord(found) && found["kind"] === kind;

type Hands = Pick<Stand, "create" | "patch" | "remove" | "get" | "all">;

/** A user's reads and writes, which meet no fault. */
const handsOn = ({ transport, handle, store }: Simulator): Hands => {
  // A condition is checked every 100 ms of the stand, and the store has seldom changed since.
  const answers = new Map<string, { readonly revision: number; readonly value: unknown }>();
  const read = (path: string): unknown => {
    const revision = store.revision();
    const last = answers.get(path);
    if (last?.revision === revision) return last.value;
    const value: unknown = JSON.parse(handle({ method: "GET", path, headers: {} }).body);
    answers.set(path, { revision, value });
    return value;
  };
  return {
    create: async (object) => {
      const { apiVersion, kind, metadata } = object;
      const own = Object.values(resources).find((one) => one.kind === kind && apiVersionOf(one) === apiVersion);
      await request(transport, "POST", collectionPath(own ?? resourceOf(kind), metadata.namespace), object);
    },
    patch: async (kind, name, change, namespace = "default") => {
      await mergeObject(transport, { ref: { resource: resourceOf(kind), namespace, name } }, change);
    },
    remove: async (kind, name, namespace = "default") => {
      await request(transport, "DELETE", objectPath({ resource: resourceOf(kind), namespace, name }));
    },
    get: (kind, name, namespace = "default") => {
      const found = read(objectPath({ resource: resourceOf(kind), namespace, name }));
      return isStoredOf(kind, found) ? found : undefined;
    },
    all: (kind) => {
      const found = read(collectionPath(resourceOf(kind)));
      const items: unknown = isRecord(found) ? found["items"] : undefined;
      const typed = resourceOf(kind);
      return Array.isArray(items) ? items.map((item) => ({ kind, apiVersion: apiVersionOf(typed), ...item })) : [];
    },
  };
};

const settings = {
  ...{ cluster: "default", namespaces: [], selector: undefined, timing, concurrency: 16, maxSubmissions: 16 },
  ...{ resyncMs: 300_000, visibilityMs: 90_000, shadow: undefined, spark: defaultOptions },
};

/** Without a limit of real time, which would start a thread for each decision: time is mocked here. */
const slices = slicesOf(
  (_ms, work) => work(),
  (begin) => void setImmediate(begin),
);

/** Adds the user agent of a host, so that managed fields show which writes are Rekindle's. */
const named = ({ send, stream }: Transport): Transport => {
  const own = (ask: HttpRequest): HttpRequest => ({ ...ask, headers: { "user-agent": "rekindle/1", ...ask.headers } });
  return { send: (ask) => send(own(ask)), stream: (ask) => stream(own(ask)) };
};

/** Opens the cluster and mocks time. */
const openStand = ({ slow = false, ...options }: Options): Stand => {
  mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"], now: start });
  // A method mocked by node:test keeps the stack of each call.
  performance.now = () => Date.now() - start;
  const simulator = openSimulator({ start, crds, ...options });
  const lines: Line[] = [];
  const hosts: Host[] = [];
  const { way, asked, written, settled, set, cut } = openWay(named(simulator.transport), slow);
  const turn = async (ms: number, step = stepMs): Promise<void> => {
    for (let left = ms; left > 0; left -= step) {
      simulator.clock.advanceTo(simulator.clock.now() + step);
      mock.timers.tick(step);
      await settled();
    }
  };
  const report: Report = (level, message, fields = {}) => void lines.push({ level, message, fields });
  return {
    ...handsOn(simulator),
    ...{ simulator, lines, asked, cut, fault: set },
    turn: (ms) => turn(ms),
    pass: (hours) => turn(hours * 3_600_000, 1_000),
    writes: () => written,
    host: async (own = {}) => {
      const host = await startHost({ transport: way, report, slices, ...settings, ...own });
      hosts.push(host);
      await settled();
      return host;
    },
    until: async (what, isSo, ms = 300_000) => {
      for (let left = ms; !isSo(); left -= stepMs) {
        if (left <= 0) throw new Error(`${ms / 1_000} s passed, and still not: ${what}`);
        await turn(stepMs);
      }
    },
    close: async () => {
      await Promise.all(hosts.map((host) => host.drain(1_000)));
      Reflect.deleteProperty(performance, "now");
      mock.timers.reset();
    },
  };
};

/** Returns the log lines with a reason. */
export const said = ({ lines }: Stand, reason: string): readonly string[] =>
  lines.filter(({ fields }) => fields["reason"] === reason).map(({ message }) => message);

/** Returns the phase of a Volcano Job. */
export const phaseOf = (stand: Stand, name: string): unknown => at(stand.get("Job", name), "status", "state", "phase");

/** Runs a test on a stand of its own, which is closed also when the test fails. */
export const onStand =
  (act: (stand: Stand) => Promise<void>, options: Options = {}) =>
  async (): Promise<void> => {
    const stand = openStand(options);
    try {
      await act(stand);
    } finally {
      await stand.close();
    }
  };

/** A test on a stand of its own, as `it` of `node:test`: each file makes its own `it`, with the options of its stands. */
export const itOnStand =
  (options: Options = {}) =>
  (title: string, act: (stand: Stand) => Promise<void>): void =>
    void it(title, onStand(act, options));
