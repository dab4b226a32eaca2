/**
 * A reader of the demo's cluster: it watches applications, pods, events and records through the API, as any client
 * may. It knows the current objects and all that it has seen; the demo's claims are checked against them, and the demo
 * fails when one does not hold.
 */
import * as z from "zod";
import { checkpointResource } from "../../adapters/checkpoints/kubernetes.ts";
import type { Transport } from "../../core/http.ts";
import { apiVersionOf, attemptLabel, type Obj, type Resource, type Stored } from "../../core/object.ts";
import { counted } from "../../core/text.ts";
import type { Change } from "../../forward/keys.ts";
import { follow } from "../../forward/listwatch.ts";
import { pause } from "../../forward/pause.ts";
import { everyKind, kindOf, usual } from "../../inspection/kinds/all.ts";
import type { Kind } from "../../inspection/kinds/kind.ts";
import { labelOf, podStatus } from "../../kube/pods.ts";
import { defaultFamilies, pods } from "../../kube/resources.ts";
import { runs } from "../../registry/names.ts";

export const applications: Resource = usual.resource;
export const events: Resource = { group: "", version: "v1", plural: "events", kind: "Event" };

/** The kinds other than SparkApplication that the demo's functions run, as the command line knows them. */
export const otherKinds: readonly Kind[] = everyKind.filter(runs(defaultFamilies)).filter((kind) => kind !== usual);

/** Resources that the reader watches. */
const followed: readonly Resource[] = [
  ...[applications, pods, events, checkpointResource],
  ...otherKinds.map(({ resource }) => resource),
];

export type ObservedCluster = {
  /** Every object ever seen, by UID, as it was last seen; in the order of their appearance. */
  readonly seen: ReadonlyMap<string, Stored>;
  /** UIDs of deleted objects. */
  readonly gone: ReadonlySet<string>;
};

const application = z.object({
  spec: z.looseObject({ executor: z.looseObject({ instances: z.number().optional() }).optional() }),
  status: z
    .looseObject({
      applicationState: z.looseObject({ state: z.string().optional(), errorMessage: z.string().optional() }).optional(),
      executionAttempts: z.number().optional(),
    })
    .optional(),
});

export type ApplicationView = {
  readonly state: string;
  readonly error: string;
  readonly wants: number;
  readonly attempts: number;
};

export const applicationView = (object: Obj): ApplicationView => {
  const { data } = application.safeParse(object);
  const state = data?.status?.applicationState;
  return {
    state: state?.state ?? "",
    error: state?.errorMessage ?? "",
    wants: data?.spec.executor?.instances ?? 1,
    attempts: data?.status?.executionAttempts ?? 0,
  };
};

const record = z.object({
  spec: z.looseObject({
    waitsFor: z.string().optional(),
    memory: z.looseObject({
      attempt: z.number(),
      state: z.looseObject({ phase: z.string() }),
    }),
  }),
});

export type RecordView = {
  readonly app: string;
  readonly attempt: number;
  readonly phase: string;
  readonly waitsFor: string;
};

/** Returns the shown fields of a record; undefined where it is not one of an application. */
export const recordView = (object: Obj): RecordView | undefined => {
  const { data } = record.safeParse(object);
  if (data === undefined) return undefined;
  const { memory, waitsFor = "" } = data.spec;
  return {
    app: object.metadata.annotations?.["rekindle.dev/name"] ?? "",
    attempt: memory.attempt,
    phase: memory.state.phase,
    waitsFor,
  };
};

export type PodView = {
  readonly name: string;
  readonly app: string;
  readonly role: "driver" | "executor" | "other";
  /** The id of an executor; 0 for other pods. */
  readonly id: number;
  readonly attempt: string;
  readonly phase: string;
  readonly node: string;
  /** Undefined while the container has not ended. */
  readonly exit: number | undefined;
  readonly waits: string;
  /** Name of the pod that owns it: an executor's driver. */
  readonly owner: string | undefined;
};

const placed = z.object({ spec: z.looseObject({ nodeName: z.string() }) });

const roleOf = (object: Obj): PodView["role"] => {
  const role = labelOf(object, "spark-role");
  return role === "driver" || role === "executor" ? role : "other";
};

export const podView = (object: Obj): PodView => {
  const { phase = "", containerStatuses } = podStatus(object);
  const states = (containerStatuses ?? []).map(({ state }) => state);
  return {
    name: object.metadata.name,
    app: labelOf(object, "sparkoperator.k8s.io/app-name") ?? "",
    role: roleOf(object),
    id: Number(labelOf(object, "spark-exec-id") ?? 0),
    attempt: labelOf(object, attemptLabel) ?? "",
    phase,
    node: placed.safeParse(object).data?.spec.nodeName ?? "",
    exit: states.find((state) => state?.terminated !== undefined)?.terminated?.exitCode,
    waits: states.find((state) => state?.waiting !== undefined)?.waiting?.reason ?? "",
    owner: object.metadata.ownerReferences?.find(({ kind }) => kind === "Pod")?.name,
  };
};

const ofKind = ({ seen }: ObservedCluster, resource: Resource): readonly Stored[] =>
  [...seen.values()].filter(({ apiVersion, kind }) => kind === resource.kind && apiVersion === apiVersionOf(resource));

/** Returns the names of all applications ever seen; the newest last. */
export const namesIn = (observed: ObservedCluster): readonly string[] => {
  const names = ofKind(observed, applications).map(({ metadata }) => metadata.name);
  return names.filter((name, at) => names.lastIndexOf(name) === at);
};

/** Returns the newest existing object of a kind that Rekindle runs. */
export const newestIn = ({ seen, gone }: ObservedCluster): Stored | undefined => {
  return [...seen.values()].filter((object) => kindOf(object) !== undefined && !gone.has(object.metadata.uid)).at(-1);
};

/** Returns the pods of an object of another kind, by the labels that its kind sets, deleted ones included. */
export const podsOfKind = (observed: ObservedCluster, kind: Kind, name: string): readonly PodView[] => {
  const labels = Object.entries(kind.podLabels(name));
  return ofKind(observed, pods)
    .filter((pod) => labels.every(([label, value]) => labelOf(pod, label) === value))
    .map(podView);
};

/** Returns the newest existing application of this name. */
export const applicationNamed = (observed: ObservedCluster, name: string): Stored | undefined =>
  ofKind(observed, applications)
    .filter(({ metadata }) => metadata.name === name && !observed.gone.has(metadata.uid))
    .at(-1);

export const recordNamed = (observed: ObservedCluster, name: string): Stored | undefined =>
  ofKind(observed, checkpointResource)
    .filter(({ metadata }) => metadata.name === name && !observed.gone.has(metadata.uid))
    .at(-1);

/** Returns all pods of one application object that were ever seen, deleted ones included. */
export const podsOf = (observed: ObservedCluster, uid: string): readonly PodView[] =>
  ofKind(observed, pods)
    .filter((pod) => labelOf(pod, "rekindle.dev/app-uid") === uid)
    .map(podView);

export type Reader = {
  /** The current knowledge; always the same object, which changes. */
  readonly observed: ObservedCluster;
  /** Resolves once everything has been listed. */
  readonly listed: Promise<void>;
  /** Resolves true as soon as `isSo` holds, false when the signal is aborted first. */
  until(isSo: (observed: ObservedCluster) => boolean, signal: AbortSignal): Promise<boolean>;
  stop(): Promise<void>;
};

export type ReaderSettings = {
  readonly transport: Transport;
  readonly namespace: string;
  /** Receives every change in the order of the API; the scene contains it already. */
  readonly changed: (change: Change, observed: ObservedCluster) => void;
};

type Waiter = { readonly isSo: (observed: ObservedCluster) => boolean; readonly done: (isSo: boolean) => void };

export const startReader = ({ transport, namespace, changed }: ReaderSettings): Reader => {
  const seen = new Map<string, Stored>();
  const gone = new Set<string>();
  const observed: ObservedCluster = { seen, gone };
  const waiters = new Set<Waiter>();
  const stopping = new AbortController();
  const { signal } = stopping;

  const take = (change: Change): void => {
    const object = change.after ?? change.before;
    if (change.after === undefined) gone.add(object.metadata.uid);
    seen.set(object.metadata.uid, object);
    changed(change, observed);
    for (const waiter of waiters) if (waiter.isSo(observed)) waiter.done(true);
  };

  const lists = followed.map(() => Promise.withResolvers<void>());
  const running = followed.map((resource, at) =>
    follow({
      ...{ transport, resource, namespace, selector: undefined, pause, signal, random: Math.random },
      trim: (object) => object,
      changed: take,
      synced: () => lists[at]?.resolve(),
      troubled: () => {},
      now: () => performance.now(),
    }),
  );
  return {
    observed,
    listed: Promise.all(lists.map(({ promise }) => promise)).then(() => {}),
    until: (isSo, ended) =>
      new Promise((resolve) => {
        const waiter: Waiter = {
          isSo,
          done: (outcome) => {
            waiters.delete(waiter);
            ended.removeEventListener("abort", giveUp);
            resolve(outcome);
          },
        };
        const giveUp = (): void => waiter.done(false);
        if (isSo(observed)) return resolve(true);
        if (ended.aborted) return resolve(false);
        waiters.add(waiter);
        ended.addEventListener("abort", giveUp, { once: true });
      }),
    stop: async () => {
      stopping.abort();
      await Promise.all(running);
    },
  };
};

export type Claim = { readonly claim: string; readonly holds: boolean; readonly found: string };

/** Facts that only the demo knows: its faults in the cluster and the functions. */
export type InjectedFaults = {
  readonly killedExecutor: string | undefined;
  readonly killedInvocation: number | undefined;
  readonly tookOver: number | undefined;
};

export type Evidence = {
  readonly observed: ObservedCluster;
  readonly application: Stored | undefined;
  /** States of the application, in the order of their appearance. */
  readonly states: readonly string[];
  readonly deeds: InjectedFaults;
  /** The driver's log, as read from the API. */
  readonly log: string;
};

const path = ["SUBMITTED", "RUNNING", "COMPLETED"].join(" → ");

const drivers = (pods: readonly PodView[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const { role, attempt } of pods) if (role === "driver") counts.set(attempt, (counts.get(attempt) ?? 0) + 1);
  return counts;
};

const oneDriver = (pods: readonly PodView[], attempts: number): Claim => {
  const counts = drivers(pods);
  const found = [...counts].map(([attempt, count]) => `attempt ${attempt}: ${counted(count, "driver")}`).join(", ");
  const holds = counts.size === attempts && [...counts.values()].every((count) => count === 1);
  return { claim: "one driver per attempt", holds: holds && attempts > 0, found: found === "" ? "no driver" : found };
};

/** Checks the replacement. The first executors have ids up to `wants`; each later one is a replacement. */
const replaced = (pods: readonly PodView[], wants: number, name: string | undefined): Claim => {
  const claim = "a killed executor was replaced";
  const lost = pods.find((pod) => pod.name === name);
  if (lost === undefined) return { claim, holds: false, found: "no executor was killed" };
  const next = pods.find(
    ({ role, id, phase }) => role === "executor" && id > wants && (phase === "Running" || phase === "Succeeded"),
  );
  const end = lost.exit === undefined ? "has not ended" : `exit code ${lost.exit}`;
  const successor = next === undefined ? "no replacement" : `replaced by executor ${next.id}`;
  return { claim, holds: lost.exit === 137 && next !== undefined, found: `executor ${lost.id}: ${end}; ${successor}` };
};

const outlived = ({ killedInvocation, tookOver }: InjectedFaults): Claim => ({
  claim: "an invocation continued after the kill",
  holds: killedInvocation !== undefined && tookOver !== undefined && tookOver > killedInvocation,
  found: `killed: invocation ${killedInvocation ?? "none"}; continued: invocation ${tookOver ?? "none"}`,
});

/** Returns the line of the driver's log with the result. */
export const piIn = (log: string): string | undefined =>
  log.split("\n").find((line) => line.startsWith("Pi is roughly 3."));

const logged = (log: string): Claim => {
  const line = piIn(log);
  return { claim: "the driver's log is readable", holds: line !== undefined, found: line ?? "no such line in its log" };
};

export const claimsOf = ({ observed, application, states, deeds, log }: Evidence): readonly Claim[] => {
  const pods = application === undefined ? [] : podsOf(observed, application.metadata.uid);
  const { attempts, wants } = application === undefined ? { attempts: 0, wants: 0 } : applicationView(application);
  const found = states.join(" → ");
  return [
    { claim: "the application is COMPLETED", holds: found === path, found: found === "" ? "no state" : found },
    oneDriver(pods, attempts),
    replaced(pods, wants, deeds.killedExecutor),
    outlived(deeds),
    logged(log),
  ];
};
