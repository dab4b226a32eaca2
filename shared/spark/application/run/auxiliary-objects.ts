/** A run's auxiliary objects: their creation, the UI information in the status, their removal at its end. */
import { all, get, list, type Reads } from "../../../core/decision.ts";
import type { Effect } from "../../../core/plan.ts";
import { isEnding, ownedBy } from "../../../kube/pods.ts";
import { services } from "../../../kube/resources.ts";
import {
  endsWithRun,
  postStartObjectsOf,
  type RareKind,
  rareIn,
  rareKinds,
  subjectOf,
} from "../../auxiliary-objects/all.ts";
import { uiInfo, uiServiceName } from "../../auxiliary-objects/ingress.ts";
import type { AuxiliaryObject } from "../../auxiliary-objects/object.ts";
import type { SparkApplicationSpec } from "../../schema/application.ts";
import type { Memory } from "../state/memory.ts";
import { shownInfo, showsBegun } from "../state/status.ts";
import { type ApplicationContext, rareOf, removal } from "./context.ts";

/** The application at one of its attempts, as the auxiliary objects are built from it. */
export const attemptOf = (
  { key, view, settings: { options } }: ApplicationContext,
  spec: SparkApplicationSpec,
  attempt: number,
) => subjectOf({ name: key.name, namespace: key.namespace, uid: view.uid, spec, options }, attempt);

export const accompaniment = ({ resource, object, optional }: AuxiliaryObject, owner: string): Effect => ({
  do: "create",
  object,
  resource,
  owner,
  ...(optional ? { optional } : {}),
});

/** Remembers the rare kinds before their objects are created, so that clearing the run lists them. */
export const withRare = (memory: Memory, companions: readonly AuxiliaryObject[]): Memory => {
  const rare: readonly RareKind[] = [...new Set([...(memory.rare ?? []), ...rareIn(companions)])].sort();
  return rare.length === 0 ? memory : { ...memory, rare: [...rare] };
};

type Exposure =
  | { readonly make: readonly Effect[]; readonly memory: Memory }
  | { readonly info: Readonly<Record<string, unknown>> };

/**
 * Creates the services and ingresses of a driver that has begun, after the submission as upstream does: a Service whose
 * address the API server gives slowly does not delay the driver. Then takes the UI service from the
 * answer to its creation, which has the address that the API server gave, and reads it where it was there before, until
 * the status shows its information.
 */
export function* exposureOf(context: ApplicationContext): Reads<Exposure> {
  const { key, view, memory, read, object, settings } = context;
  const { driver } = memory;
  if (!read.ok || driver === undefined) return { info: {} };
  const { attempt, submissionId, podName: driverPodName } = driver;
  const own = attemptOf(context, read.spec, attempt);
  const subject = { ...own, submissionId, applicationId: driver.applicationId ?? own.applicationId, driverPodName };
  const postStart = showsBegun(object, driver) ? [] : postStartObjectsOf(subject);
  const made = (view.done ?? []).some(({ do: act }) => act === "create");
  if (postStart.length > 0 && !made) {
    const make = postStart.map((one) => accompaniment(one, view.uid));
    return { make, memory: withRare(memory, postStart) };
  }
  if (!settings.options.uiService || shownInfo(object, driver)["webUIServiceName"] !== undefined) return { info: {} };
  const name = uiServiceName(key.name);
  const ref = { resource: services, namespace: key.namespace, name };
  const service = yield* get({ do: "get", ref, created: true });
  return { info: service !== undefined && ownedBy(service, view.uid) ? uiInfo(subject, service) : {} };
}

type Ended = { readonly stage: readonly Effect[]; readonly left: number; readonly memory: Memory };

/** Deletes by UID the rare objects that end with the run. A kind with none left is not listed again. */
export function* endAuxiliaryObjects(context: ApplicationContext): Reads<Ended> {
  const { view, memory } = context;
  const ending: readonly RareKind[] = (memory.rare ?? []).filter((name) => endsWithRun[name]);
  const lists = yield* all(ending.map((name) => list(rareOf(context, name))));
  const there = ending.flatMap((name, index) => {
    const mine = (lists[index] ?? []).filter((object) => ownedBy(object, view.uid));
    return mine.map((object) => ({ object, name }));
  });
  const gone = ending.filter((kind) => there.every(({ name }) => name !== kind));
  const rare = (memory.rare ?? []).filter((name) => !gone.includes(name));
  const { rare: _, ...rest } = memory;
  return {
    stage: there.filter(({ object }) => !isEnding(object)).map(({ object, name }) => removal(object, rareKinds[name])),
    left: there.length,
    memory: rare.length === 0 ? rest : { ...rest, rare },
  };
}
