/**
 * An in-memory Kubernetes under a virtual clock: the API server, and around it a scheduler, kubelets, a garbage
 * collector and scripted Spark. State changes only by requests and by turning the clock; the same inputs give the same
 * bytes. A snapshot shares all that it can, so that thousands of cases fork from one.
 */

import type { Transport } from "../core/http.ts";
import type { Answer } from "./api/answer.ts";
import { gateOf } from "./api/authorization.ts";
import { type ApiAccess, openApiAccess, transportTo } from "./api/handler.ts";
import { collector, contents } from "./controllers/garbage-collector.ts";
import { bootstrap, createInitialObjects } from "./controllers/initial-objects.ts";
import { claims } from "./controllers/volumes.ts";
import { events, exitTask, kubelet } from "./nodes/kubelet.ts";
import { addNode, freeze, machines, type NodeSpec, removeNode, thaw } from "./nodes/machines.ts";
import { type Exit, evicted } from "./nodes/pod-status.ts";
import { scheduler } from "./nodes/scheduler.ts";
import { type Memories, openMemory, type Scripts } from "./nodes/script.ts";
import { scriptsOf, spark } from "./spark/application.ts";
import { type Clock, type ClockState, openClock, type Task } from "./storage/clock.ts";
import { type Change, keyOf, openStore, type Store, type StoreState } from "./storage/store.ts";
import { sides } from "./subresources.ts";
import { quotas } from "./verbs/quotas.ts";
import { type Part, rewrite } from "./verbs/remove.ts";
import type { ApiRequest, Server } from "./verbs/request.ts";
import type { Admit } from "./verbs/webhooks.ts";

export type SimulatorState = { readonly clock: ClockState; readonly store: StoreState; readonly memories: Memories };

export type Options = {
  /** Epoch ms at which the simulation begins. */
  readonly start?: number;
  /** Makes the identities of two simulators differ. */
  readonly seed?: string;
  readonly managedFields?: boolean;
  /** CustomResourceDefinitions served from the beginning. */
  readonly crds?: readonly unknown[];
  /** Objects of built-in kinds that exist from the beginning, as `[plural, namespace, body]`. */
  readonly objects?: readonly (readonly [table: string, namespace: string | undefined, body: unknown])[];
  readonly nodes?: readonly NodeSpec[];
  /** Scripts of drivers by application name, of other pods by pod name; "*" for all others. */
  readonly scripts?: Scripts;
  /** Pods that are not Spark's follow their command line: its duration, its output, its exit code. */
  readonly commands?: boolean;
  /** Scheduler and kubelets create Events about pods. */
  readonly events?: boolean;
  /** Rights are kept: a service account's token has the rights of its roles and bindings, other callers all rights. */
  readonly rbac?: boolean;
  /** Answers for admission webhooks; without it no webhook is called. Over HTTP: `openCaller` and `serveSimulator`. */
  readonly admit?: Admit;
  /** With rights kept: a reference with blockOwnerDeletion takes the right to set the owner's finalizers. */
  readonly guardsOwners?: boolean;
  /** Names of schedulers that bind pods. */
  readonly schedulers?: readonly string[];
  /** Further parts around the API server, such as a stand-in for a scheduler of groups. */
  readonly guests?: readonly ((server: Server) => Part)[];
};

export type Simulator = {
  readonly store: Store;
  readonly clock: Clock;
  readonly door: ApiAccess;
  readonly transport: Transport;
  handle(ask: ApiRequest): Answer;
  /** Calls the listener synchronously after every change. */
  subscribe(listener: (change: Change) => void): () => void;
  /** Ends the process of a pod at once, as its own exit would. */
  killPod(namespace: string, name: string, exit: Exit): void;
  /** The kubelet ends a pod for want of resources: Failed, reason Evicted. */
  evictPod(namespace: string, name: string): void;
  readonly nodes: {
    add(spec: NodeSpec): void;
    remove(name: string): void;
    freeze(name: string): void;
    thaw(name: string): void;
  };
  snapshot(): SimulatorState;
  restore(state: SimulatorState): void;
};

const defaultStart = Date.UTC(2026, 10, 2, 8, 0, 0);
const defaultNodes: readonly NodeSpec[] = [{ name: "node-1" }, { name: "node-2" }, { name: "node-3" }];

/** The clock does due tasks through this holder: it is opened before the parts that do them. */
type Hands = { parts: readonly Part[] };

const doTask = ({ parts }: Hands, task: Task): void => {
  for (const { tasks } of parts) tasks[task.do]?.(task);
};

export const openSimulator = (options: Options = {}): Simulator => {
  const { scripts = {}, schedulers = ["default-scheduler"], nodes = defaultNodes, guests = [] } = options;
  const parts: Hands = { parts: [] };
  const store = openStore();
  const clock = openClock(options.start ?? defaultStart, (task) => doTask(parts, task));
  const { managedFields = false, rbac = false } = options;
  const server: Server = { store, clock, seed: options.seed ?? "rekindle", managedFields, rbac, admit: options.admit };
  const memory = openMemory();
  const kubelets = { server, memory, scriptOf: scriptsOf(memory, scripts, options.commands) };
  parts.parts = [
    contents(server),
    claims(server),
    quotas(server),
    collector(server),
    machines(server),
    scheduler(server, schedulers),
    spark(kubelets, scripts, options.commands),
    kubelet(kubelets),
    ...(options.events === true ? [events(server)] : []),
    ...guests.map((guest) => guest(server)),
  ];
  store.subscribe((change) => {
    for (const { onChange } of parts.parts) onChange(change);
  });
  createInitialObjects(server, options.crds ?? [], [...(rbac ? bootstrap : []), ...(options.objects ?? [])]);
  for (const node of nodes) addNode(server, node);
  store.compact(store.revision() - 1);
  const gate = rbac ? gateOf(server, options.guardsOwners ?? false) : () => {};
  const door = openApiAccess(server, { sides: sides(kubelets), gate });
  return {
    store,
    clock,
    door,
    transport: transportTo(door),
    handle: door.handle,
    subscribe: store.subscribe,
    killPod: (namespace, name, exit) => {
      const pod = store.get("pods", keyOf(namespace, name));
      if (pod !== undefined) doTask(parts, exitTask(pod, exit));
    },
    evictPod: (namespace, name) => {
      const pod = store.get("pods", keyOf(namespace, name));
      if (pod !== undefined) rewrite(server, "pods", pod, evicted(pod, clock.now()));
    },
    nodes: {
      add: (spec) => addNode(server, spec),
      remove: (name) => removeNode(server, name),
      freeze: (name) => freeze(server, name),
      thaw: (name) => thaw(server, name),
    },
    snapshot: () => ({ clock: clock.snapshot(), store: store.snapshot(), memories: memory.snapshot() }),
    restore: (state) => {
      clock.restore(state.clock);
      store.restore(state.store);
      memory.restore(state.memories);
    },
  };
};
