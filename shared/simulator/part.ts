/** The parts around the API server (collector, scheduler, kubelets, Spark): each hears changes and does tasks. */
import type { Task } from "./clock.ts";
import { kindOfTable } from "./crds.ts";
import { same, textAt } from "./json.ts";
import type { Item } from "./metadata.ts";
import { Refusal } from "./refusal.ts";
import { type RemoveOptions, removeItem } from "./remove.ts";
import type { Server } from "./server.ts";
import { type Change, keyOf } from "./store.ts";

export type Part = {
  readonly onChange: (change: Change) => void;
  readonly tasks: Readonly<Record<string, (task: Task) => void>>;
};

export const keyOfItem = ({ metadata }: Item): string => keyOf(metadata.namespace, metadata.name);

/** The object of a task; undefined when it is gone, or another object has its name. */
export const subject = ({ store }: Server, task: Task, table = textAt(task, "table") ?? "pods"): Item | undefined => {
  const item = store.get(table, textAt(task, "key") ?? "");
  return item?.metadata.uid === textAt(task, "uid") ? item : undefined;
};

/** A task about an object. */
export const about = (name: string, item: Item, more: Readonly<Record<string, unknown>> = {}): Task => ({
  do: name,
  key: keyOfItem(item),
  uid: item.metadata.uid,
  ...more,
});

export const later = ({ clock }: Server, delayMs: number, task: Task): void => clock.at(clock.now() + delayMs, task);

/** Stores an object that a part changed, unless nothing changed. */
export const rewrite = ({ store }: Server, table: string, before: Item, after: Item): Item =>
  same(before, after) ? before : store.put(table, after);

const plainly: RemoveOptions = {
  dryRun: false,
  graceSeconds: undefined,
  propagation: undefined,
  uid: undefined,
  resourceVersion: undefined,
};

/** Deletes an object for a part, as a client would; ignores a refusal. */
export const discard = (server: Server, table: string, item: Item, options: Partial<RemoveOptions> = {}): void => {
  const kind = kindOfTable(server.store, table);
  if (kind === undefined) return;
  try {
    removeItem(server, kind, item, { ...plainly, uid: item.metadata.uid, ...options });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
  }
};
