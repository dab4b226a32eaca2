/**
 * The invariant of queues with a capability where Rekindle admits groups, judged from objects alone. Only cpu is counted.
 *
 * R1. When a step creates a pod, the unfinished pods of its queue request at most the queue's capability together, whether they
 *     belong to the minimum of their groups or not.
 * R2. At rest no group says that pods of it wait.
 * R3. A group that is let in is in the queue that its namespace names, unless it names another than the default queue.
 * R4. No group is let in of which a pod without a node names Volcano's scheduler, which no scenario of these has.
 */
import type { Change } from "../../../../shared/simulator/storage/store.ts";
import { at, textAt } from "../fields.ts";
import { forked } from "../forked.ts";
import type { Oracle } from "../oracle.ts";

type Pod = { readonly queue: string; readonly cpu: number };

type Facts = {
  violations: string[];
  /** By queue. */
  capability: Map<string, number>;
  /** Unfinished pods by UID. */
  pods: Map<string, Pod>;
  /** The groups of which pods wait, by UID. */
  short: Map<string, string>;
  /** The groups of pods without a node that name Volcano's scheduler. */
  foreign: Set<string>;
  /** The queues that namespaces name. */
  named: Map<string, string>;
};

const items = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const coresIn = (text: string | undefined): number =>
  text?.endsWith("m") === true ? Number(text.slice(0, -1)) / 1_000 : Number(text ?? 0);

const cpuOf = (spec: unknown): number =>
  items(at(spec, "containers")).reduce<number>(
    (sum, one) => sum + coresIn(textAt(one, "resources", "requests", "cpu")),
    0,
  );

const hearPod = ({ pods, capability, foreign, violations }: Facts, { type, object }: Change, actor: string): void => {
  const { uid, name, annotations = {} } = object.metadata;
  const group = annotations["scheduling.k8s.io/group-name"];
  if (group !== undefined && textAt(object, "spec", "schedulerName") === "volcano") foreign.add(group);
  const isOver = ["Succeeded", "Failed"].includes(textAt(object, "status", "phase") ?? "");
  const queue = annotations["volcano.sh/queue-name"] ?? "";
  const most = capability.get(queue);
  if (most === undefined) return;
  if (type === "DELETED" || isOver) pods.delete(uid);
  else pods.set(uid, { queue, cpu: cpuOf(object["spec"]) });
  if (type !== "ADDED" || actor !== "engine") return;
  const held = [...pods.values()].filter((pod) => pod.queue === queue).reduce((sum, { cpu }) => sum + cpu, 0);
  if (held > most + 1e-9) violations.push(`R1: with pod ${name} queue ${queue} holds ${held} of ${most} cpu`);
};

const letIn = ["Inqueue", "Running"];

const hearGroup = ({ short, named, foreign, violations }: Facts, { type, object }: Change): void => {
  const { uid, name, namespace = "" } = object.metadata;
  const queue = textAt(object, "spec", "queue") ?? "default";
  const wanted = named.get(namespace) ?? queue;
  const isLetIn = letIn.includes(textAt(object, "status", "phase") ?? "");
  if (isLetIn && foreign.has(name)) violations.push(`R4: group ${name} is let in, and nobody binds its pods`);
  if (queue === "default" && wanted !== queue && isLetIn)
    violations.push(`R3: group ${name} is let in by queue ${queue}, and its namespace names ${wanted}`);
  const says = items(at(object, "status", "conditions")).some((one) => textAt(one, "type") === "Unschedulable");
  if (type !== "DELETED" && says) short.set(uid, name);
  else short.delete(uid);
};

const hears: Readonly<Record<string, (facts: Facts, change: Change, actor: string) => void>> = {
  "queues.scheduling.volcano.sh": ({ capability }, { object }) => {
    const cpu = textAt(object, "spec", "capability", "cpu");
    if (cpu !== undefined) capability.set(object.metadata.name, coresIn(cpu));
  },
  "podgroups.scheduling.volcano.sh": hearGroup,
  namespaces: ({ named }, { object: { metadata } }) => {
    const queue = metadata.annotations?.["scheduling.volcano.sh/queue-name"];
    if (queue !== undefined) named.set(metadata.name, queue);
  },
  pods: hearPod,
};

const judging = (inner: Oracle, facts: Facts): Oracle => ({
  ...inner,
  hear: (change, actor, now) => {
    hears[change.table]?.(facts, change, actor);
    inner.hear(change, actor, now);
  },
  end: (objects, now) => {
    if (facts.capability.size > 0)
      for (const name of facts.short.values()) facts.violations.push(`R2: at rest pods of ${name} wait`);
    inner.end(objects, now);
  },
  violations: () => [...inner.violations(), ...new Set(facts.violations)],
  copy: () => judging(inner.copy(), forked(facts)),
});

/** Adds the invariants of bounded queues to the oracle of a scenario. */
export const withRooms = (inner: Oracle): Oracle =>
  judging(inner, {
    violations: [],
    capability: new Map(),
    pods: new Map(),
    short: new Map(),
    named: new Map(),
    foreign: new Set(),
  });
