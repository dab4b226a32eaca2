/**
 * A simulated cluster with applications, and steps that any process may take: each process knows only the API server.
 * The tests do to a step what Mesos' tests do to an agent; a step may die at a request.
 */
import { kubernetesCheckpoints } from "../../../shared/adapters/checkpoints/kubernetes.ts";
import { openCluster } from "../../../shared/adapters/kubernetes/cluster.ts";
import type { Transport } from "../../../shared/core/http.ts";
import type { Message } from "../../../shared/core/key.ts";
import type { Ending, World } from "../../../shared/engine/context/world.ts";
import { take } from "../../../shared/engine/reconcile/intake.ts";
import { timing } from "../../../shared/engine/settings.ts";
import type { Scripts } from "../../../shared/simulator/nodes/script.ts";
import { openSimulator, type Simulator } from "../../../shared/simulator/open.ts";
import type { Change } from "../../../shared/simulator/storage/store.ts";
import { account, crds, manifest } from "../sweep/fixture.ts";
import { sweptOf } from "../sweep/kinds.ts";
import { home } from "../sweep/objects.ts";
import { base, namespace } from "../sweep/scenario.ts";
import { visit } from "../sweep/visit.ts";

export const cluster = "mesos";
const kind = sweptOf({});
const table = "sparkapplications.sparkoperator.k8s.io";

export type Item = Change["object"];

export type Agent = {
  readonly simulator: Simulator;
  /** Requests since the last `quiet`, as method and resource: `POST pods`. */
  readonly requests: readonly string[];
  readonly writes: () => readonly string[];
  quiet(): void;
  ask(method: string, path: string, body?: object): void;
  apply(name: string, spec?: object, annotations?: Readonly<Record<string, string>>): void;
  remove(name: string): void;
  /**
   * Takes one step in a new process. With `dies`, the process dies at its n-th request, before or after the request
   * took effect.
   */
  step(name: string, dies?: { readonly at: number; readonly effect: boolean }): Promise<Ending | "dead" | undefined>;
  /** Takes 13 steps, with `ms` of simulated time between two of them. */
  settle(name: string, ms?: number): Promise<void>;
  /** Runs a resync and takes a step for each of its messages. Returns the number of messages. */
  resync(): Promise<number>;
  pass(ms: number): void;
  app(name: string): Item | undefined;
  record(name: string): Item | undefined;
  pods(name: string, role?: "driver" | "executor"): readonly Item[];
};

export const appPath = (name: string): string => `${manifest(kind, name, {})[0]}/${name}`;
export const recordPath = (name: string): string =>
  `/apis/rekindle.dev/v1alpha1/namespaces/${namespace}/checkpoints/sparkapplication.${name}`;
export const podPath = (name: string): string => `/api/v1/namespaces/${namespace}/pods/${name}`;

type Death = { left: number; readonly effect: boolean };

/** A transport that dies at a request: that request and every later one stay without an answer. */
const dying = (transport: Transport, death: Death, died: () => void): Transport => ({
  ...transport,
  send: async (request) => {
    if (death.left < 0) return new Promise(() => {});
    death.left -= 1;
    if (death.left > 0) return transport.send(request);
    if (death.effect) await transport.send(request);
    death.left = -1;
    died();
    return new Promise(() => {});
  },
});

export const openAgent = async (scripts: Scripts = { "*": [{ hangs: true }] }): Promise<Agent> => {
  const simulator = openSimulator({ crds, nodes: [{ name: "node-1" }, { name: "node-2" }], scripts });
  const { requests, transport, anybody, found, ask } = visit(simulator, cluster);
  const message = (name: string): Message => ({ cluster, kind: kind.kind, namespace, name, reason: "test" });
  const agent: Agent = {
    simulator,
    requests,
    writes: () => requests.filter((request) => !/^(GET|LIST)/.test(request)),
    quiet: () => {
      requests.length = 0;
    },
    ask,
    apply: (name, spec = {}, annotations = {}) =>
      agent.ask("POST", ...manifest(kind, name, { ...base, ...spec }, annotations)),
    remove: (name) => agent.ask("DELETE", appPath(name)),
    step: async (name, dies) => {
      if (dies === undefined) return take(await anybody(), [message(name)]);
      let die: (how: "dead") => void = () => {};
      const dead = new Promise<"dead">((resolve) => {
        die = resolve;
      });
      const fatal = dying(transport, { left: dies.at, effect: dies.effect }, () => die("dead"));
      const world = await anybody();
      const timeoutMs = timing.requestTimeoutMs;
      const mortal: World = {
        ...world,
        cluster: openCluster(fatal, { timeoutMs }),
        checkpoints: kubernetesCheckpoints(fatal, { timeoutMs }),
      };
      return Promise.race([take(mortal, [message(name)]), dead]);
    },
    settle: async (name, ms = 5_000) => {
      for (let round = 0; round < 12; round++) {
        await agent.step(name);
        simulator.clock.advanceTo(simulator.clock.now() + ms);
      }
      await agent.step(name);
    },
    resync: async () => {
      const { sent, messages } = await found(String(simulator.clock.now()));
      for (const one of messages) await take(await anybody(), [one]);
      return sent;
    },
    pass: (ms) => simulator.clock.advanceTo(simulator.clock.now() + ms),
    app: (name) => simulator.store.get(table, `${namespace}/${name}`),
    record: (name) => simulator.store.get("checkpoints.rekindle.dev", `${namespace}/sparkapplication.${name}`),
    pods: (name, role) =>
      simulator.store
        .list("pods")
        .filter(({ metadata: { labels = {} } }) => labels["sparkoperator.k8s.io/app-name"] === name)
        .filter(({ metadata: { labels = {} } }) => role === undefined || labels["spark-role"] === role),
  };
  ask("POST", ...account);
  ask("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: home } });
  // The first resync of an installation makes the queues root and default; the second takes their steps, and both rest.
  for (let nth = 0; nth < 2; nth++) await agent.resync();
  agent.quiet();
  return agent;
};
