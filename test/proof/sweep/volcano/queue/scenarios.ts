/** Queues that are closed and opened by commands, alone and with those below them. */
import type { Change } from "../../../../../shared/simulator/storage/store.ts";
import { textAt } from "../../fields.ts";
import { appName, namespace, type Scenario, type UserAction } from "../../scenario.ts";

const group = "scheduling.volcano.sh/v1beta1";
const queues = `/apis/${group}/queues`;
const groups = `/apis/${group}/namespaces/${namespace}/podgroups`;

type Stood = readonly [path: string, body: object];

const below = (name: string, parent: string): Stood => [
  queues,
  {
    apiVersion: group,
    kind: "Queue",
    metadata: { name },
    spec: { weight: 1, reclaimable: true, parent },
    status: { state: "Open" },
  },
];

const member: Stood = [
  groups,
  {
    apiVersion: group,
    kind: "PodGroup",
    metadata: { name: "batch", namespace },
    spec: { minMember: 1, queue: appName },
    status: { phase: "Running" },
  },
];

export const queueIs =
  (name: string, state: string): UserAction["when"] =>
  ({ table, object }: Change) =>
    table === "queues.scheduling.volcano.sh" &&
    object.metadata.name === name &&
    textAt(object, "status", "state") === state;

const order = (
  action: string,
  when: UserAction["when"],
  more: { readonly afterMs?: number; readonly of?: string } = {},
): UserAction => ({
  says: `vcctl queue operate: ${action} ${more.of ?? appName}`,
  when,
  afterMs: more.afterMs ?? 5_000,
  do: { type: "command", action, ...(more.of === undefined ? {} : { of: more.of }) },
});

const isOpen = queueIs(appName, "Open");

type Told = Pick<Scenario, "name" | "what" | "ends"> & Partial<Scenario>;

/** A scenario about a Queue, which is run sparsely unless it says otherwise. */
export const queue = (told: Told): Scenario => ({
  kind: "Queue",
  spec: { weight: 1, reclaimable: true },
  scripts: {},
  lives: {},
  userActions: [],
  breadth: "sparse",
  ...told,
});

const child = `${appName}-below`;

export const queueing: readonly Scenario[] = [
  queue({
    name: "queue-close-open",
    what: "a queue is closed while a group is in it, drains, and is opened again",
    stands: [member],
    userActions: [
      order("CloseQueue", isOpen),
      {
        says: "the last group goes",
        when: queueIs(appName, "Closing"),
        afterMs: 20_000,
        do: { type: "write", method: "DELETE", path: `${groups}/batch` },
      },
      order("OpenQueue", queueIs(appName, "Closed"), { afterMs: 20_000 }),
    ],
    ends: "Open",
    breadth: "thin",
  }),
  queue({
    name: "queue-reopened",
    what: "a queue is closed, and opened before its group has gone",
    stands: [member],
    userActions: [order("CloseQueue", isOpen), order("OpenQueue", queueIs(appName, "Closing"))],
    ends: "Open",
  }),
  queue({
    name: "queue-family",
    what: "a queue is closed and opened, and the queue below it with it",
    stands: [below(child, appName)],
    userActions: [order("CloseQueue", isOpen), order("OpenQueue", queueIs(child, "Closed"), { afterMs: 120_000 })],
    ends: "Open",
  }),
  queue({
    name: "queue-below-closed",
    what: "a queue below one that is closed cannot be opened, and says so",
    stands: [below(child, appName)],
    userActions: [
      order("CloseQueue", isOpen),
      order("OpenQueue", queueIs(child, "Closed"), { of: child, afterMs: 120_000 }),
    ],
    ends: "Closed",
  }),
  queue({
    name: "queue-own-close",
    what: "a queue that was closed by an order of its own stays so when the one above it is closed and opened",
    stands: [below(child, appName)],
    userActions: [
      order("CloseQueue", isOpen, { of: child }),
      order("CloseQueue", queueIs(child, "Closed"), { afterMs: 120_000 }),
      order("OpenQueue", queueIs(appName, "Closed"), { afterMs: 120_000 }),
    ],
    ends: "Open",
  }),
  queue({
    name: "queue-two-orders",
    what: "a queue is told to close and to open at one time",
    userActions: [order("CloseQueue", isOpen), order("OpenQueue", isOpen, { afterMs: 5_001 })],
    ends: "Open",
  }),
];
