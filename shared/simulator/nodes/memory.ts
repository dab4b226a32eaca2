/** State of the simulated machines beside the objects: running drivers, and held tasks of silent nodes. */

import type { Task } from "../storage/clock.ts";
import type { DriverScript } from "./script.ts";

/** A driver process. Replaced on every change, never altered, so that a snapshot shares it. */
export type Driver = {
  readonly uid: string;
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly app: string;
  readonly appId: string;
  readonly attempt: number;
  readonly script: DriverScript;
  /** The confs in its files when its container started: a mount stays as it was, whatever becomes of the ConfigMap. */
  readonly conf: Readonly<Record<string, string>>;
  /** The executors' pod template, as text. */
  readonly template: string;
  readonly nextId: number;
  readonly failures: number;
  /** Number of executors wanted since its last change, where they are allocated dynamically. */
  readonly wanted?: number;
  readonly booted: boolean;
  /** Instant at which the first executor ran. */
  readonly jobSince: number | undefined;
  /** The context is being stopped or the process is gone: lost executors are not replaced. */
  readonly ended: boolean;
};

export type Memories = {
  readonly drivers: ReadonlyMap<string, Driver>;
  /** The UID of the newest driver of `namespace/appId`. */
  readonly newest: ReadonlyMap<string, string>;
  /** Number of drivers that an application has had, by `namespace/app`. */
  readonly attempts: ReadonlyMap<string, number>;
  readonly held: readonly Task[];
};

export type Memory = {
  driver(uid: string): Driver | undefined;
  newest(namespace: string, appId: string): Driver | undefined;
  /** Stores the state of a driver, and returns it. */
  remember(driver: Driver): Driver;
  /** The attempt number of a new driver of an application. */
  count(namespace: string, app: string): number;
  /** Keeps a task until its machine is thawed. */
  hold(task: Task): void;
  /** Returns all held tasks, and holds none of them any longer. */
  release(): readonly Task[];
  snapshot(): Memories;
  restore(state: Memories): void;
};

/** Copies its maps at the first write after a snapshot. */
export const openMemory = (): Memory => {
  let drivers = new Map<string, Driver>();
  let newest = new Map<string, string>();
  let attempts = new Map<string, number>();
  let held: readonly Task[] = [];
  let shared = false;
  const own = (): void => {
    if (!shared) return;
    shared = false;
    drivers = new Map(drivers);
    newest = new Map(newest);
    attempts = new Map(attempts);
  };
  return {
    driver: (uid) => drivers.get(uid),
    newest: (namespace, appId) => drivers.get(newest.get(`${namespace}/${appId}`) ?? ""),
    remember: (driver) => {
      own();
      if (!drivers.has(driver.uid)) newest.set(`${driver.namespace}/${driver.appId}`, driver.uid);
      drivers.set(driver.uid, driver);
      return driver;
    },
    count: (namespace, app) => {
      own();
      const n = (attempts.get(`${namespace}/${app}`) ?? 0) + 1;
      attempts.set(`${namespace}/${app}`, n);
      return n;
    },
    hold: (task) => {
      held = [...held, task];
    },
    release: () => {
      const all = held;
      held = [];
      return all;
    },
    snapshot: () => {
      shared = true;
      return { drivers, newest, attempts, held };
    },
    restore: (state) => {
      shared = false;
      drivers = new Map(state.drivers);
      newest = new Map(state.newest);
      attempts = new Map(state.attempts);
      held = state.held;
    },
  };
};
