/** An in-memory Kubernetes under a virtual clock: the API server, and the controllers and kubelets around it. */
import type { Transport } from "../core/http.ts";
import { type Clock, type ClockState, openClock, type Task } from "./clock.ts";
import { type Answer, type Ask, type Door, openDoor } from "./door.ts";
import type { Server } from "./server.ts";
import { type Change, openStore, type Store, type StoreState } from "./store.ts";
import { transportTo } from "./transport.ts";
import { furnish, furnishNamespace } from "./world.ts";

export type SimulatorState = { readonly clock: ClockState; readonly store: StoreState };

export type Options = {
  /** Epoch ms at which the simulation begins. */
  readonly start?: number;
  readonly seed?: string;
  readonly managedFields?: boolean;
  /** CustomResourceDefinitions served from the beginning. */
  readonly crds?: readonly unknown[];
};

export type Simulator = {
  readonly store: Store;
  readonly clock: Clock;
  readonly door: Door;
  readonly transport: Transport;
  handle(ask: Ask): Answer;
  subscribe(listener: (change: Change) => void): () => void;
  snapshot(): SimulatorState;
  restore(state: SimulatorState): void;
};

const defaultStart = Date.UTC(2026, 10, 2, 8, 0, 0);

export const openSimulator = (options: Options = {}): Simulator => {
  const store = openStore();
  const run = (_what: Task): void => {};
  const clock = openClock(options.start ?? defaultStart, run);
  const server: Server = {
    store,
    clock,
    seed: options.seed ?? "rekindle",
    managedFields: options.managedFields ?? false,
  };
  const door = openDoor(server, {});
  store.subscribe((change) => furnishNamespace(server, change));
  furnish(server, options.crds ?? []);
  return {
    store,
    clock,
    door,
    transport: transportTo(door),
    handle: door.handle,
    subscribe: store.subscribe,
    snapshot: () => ({ clock: clock.snapshot(), store: store.snapshot() }),
    restore: (state) => {
      clock.restore(state.clock);
      store.restore(state.store);
    },
  };
};
