/**
 * PersistentVolumeClaims that outlive their executors. A new executor mounts the claims of one that is gone, so that its
 * driver finds the shuffle data on them, as with the driver's own allocator.
 *
 * C1. A claim is handed on only while no pod mounts it, and while no executor on its way may mount it.
 */
import * as z from "zod";
import type { Obj, Stored } from "../../core/object.ts";
import { instantOf } from "../../core/time.ts";
import { typed } from "../../kube/objects.ts";
import { isEnding, podSpec } from "../../kube/pods.ts";
import { quantityOf } from "../../kube/quantity.ts";
import { type Allotment, type Member, membersOf } from "./allotment.ts";
import type { ClaimPolicy } from "./claim-policy.ts";
import { hasId, idSet, idsOf, textOfIds } from "./ids.ts";
import { markOf } from "./ledger.ts";
import { endingOf, executorId } from "./losses.ts";

/** Names of the claims that a pod mounts. */
const mountsOf = (pod: Obj): readonly string[] =>
  (podSpec(pod).volumes ?? []).flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? []);

const claimShape = z.looseObject({
  storageClassName: z.string(),
  accessModes: z.array(z.string()),
  resources: z.looseObject({ requests: z.looseObject({ storage: z.string() }) }),
});

/** The place of a claim's volume, its class, access mode and size: claims that agree in them replace each other. */
const fitOf = ({ metadata: { name }, spec }: Obj): string | undefined => {
  const { data } = claimShape.safeParse(spec);
  if (data === undefined) return undefined;
  const volume = /-pvc-(\d+)$/.exec(name)?.[1] ?? "";
  const size = quantityOf(data.resources.requests.storage)?.nano ?? "";
  return `${volume} ${data.storageClassName} ${data.accessModes.join()} ${size}`;
};

/** The claims of a run, and the pods of its executors and its driver, as two reads may show them. */
export type ClaimReads = { readonly claims: readonly Stored[]; readonly pods: readonly Stored[] };

/** Label of a claim: the id of the executor that it was created for, as on pods. */
const idLabel = "spark-exec-id";

/** Labels a claim with the id of the executor that it is created for. */
export const labelled = (claim: Obj, id: string): Obj => ({
  ...claim,
  metadata: { ...claim.metadata, labels: { ...claim.metadata.labels, [idLabel]: id } },
});

/** Claims that may be handed on now, and executors that are created later because claims will be free then. */
export type Handover = {
  readonly free: readonly Stored[];
  /** Creations that wait. */
  readonly held: number;
  /** Of these, the ones that wait although the driver has said that it goes on without an executor that exited with 0. */
  readonly heldOfQuit: number;
  /** Ended executors whose pods are waited for. */
  readonly awaited: Allotment["awaited"];
};

/** The longest wait for the deletion of an ended executor's pod, ms. */
export const longestHandoverMs = 10_000;

type Needs = {
  readonly policy: ClaimPolicy;
  readonly allotment: Allotment;
  readonly expected: number;
  /** Executors that are missing, with those that exited with 0. */
  readonly short: number;
  readonly now: number;
  /** Ended executors are deleted by Rekindle. */
  readonly deletes: boolean;
  /** The last executors did not come up: their claims may be why. */
  readonly isStuck: boolean;
};

/** True of a claim that Rekindle made for an executor, and that is neither lost nor about to go. */
const isUsable = (claim: Stored): boolean =>
  executorId(claim) !== undefined &&
  !isEnding(claim) &&
  typed("PersistentVolumeClaim", claim).status?.phase !== "Lost" &&
  fitOf(claim) !== undefined;

/** True of a claim that an executor on its way may mount: its own, or one that it was handed. */
const mayBeMounted = ({ underway }: Allotment): ((claim: Stored) => boolean) => {
  const marks = new Set(underway.flatMap(({ claims = "" }) => claims.match(/.{8}/g) ?? []));
  const ids = idsOf(underway.map((round) => round.ids).join());
  return (claim) => marks.has(markOf(claim.metadata.uid)) || hasId(ids, executorId(claim) ?? 0);
};

/** Ended executors with claims whose pods are about to be deleted. A deletion that lasts for long is not waited for. */
const soonGone = ({ claims, pods }: ClaimReads, needs: Needs): readonly Member[] => {
  if (!needs.deletes) return [];
  const usable = new Set(claims.filter(isUsable).map(({ metadata }) => metadata.name));
  const soon = membersOf(pods).filter(({ pod }) => {
    const since = instantOf(pod.metadata.deletionTimestamp) ?? needs.now;
    const isSoon = endingOf(pod) !== undefined && since + longestHandoverMs > needs.now;
    return isSoon && mountsOf(pod).some((name) => usable.has(name));
  });
  return [...new Map(soon.map((member) => [member.id, member])).values()];
};

/** A wait that ended this long ago was looked at by no step, ms. */
const unseenMs = 5_000;

/** The pods to wait for, and until when: the time begins anew when another executor ends, and after an absence. */
const awaitedAmong = (soon: readonly Member[], { allotment, now }: Needs): Allotment["awaited"] => {
  const before = allotment.awaited;
  const known = idsOf(before?.ids ?? "");
  if (soon.length === 0) return undefined;
  const isNews = before === undefined || now >= before.until + unseenMs || soon.some(({ id }) => !hasId(known, id));
  return { ids: textOfIds(idSet(soon.map(({ id }) => id))), until: isNews ? now + longestHandoverMs : before.until };
};

/** The name of a claim that was made for an executor. */
const ownName = /-exec-\d+-pvc-\d+$/;

/** True of a list of claims that lacks a claim which a pod mounts, and which was made for an executor. */
export const lacksClaim = (claims: readonly Stored[], pods: readonly Stored[]): boolean => {
  const there = new Set(claims.map(({ metadata }) => metadata.name));
  return pods.flatMap(mountsOf).some((name) => ownName.test(name) && !there.has(name));
};

/** The number of executors that may be created with free claims, and with new ones while there are too few. */
const mostWith = (free: number, all: number, { policy: { each, waits }, expected }: Needs): number =>
  waits ? Math.floor((free + Math.max(0, expected * each - all)) / each) : Number.POSITIVE_INFINITY;

/** Decides which claims may be handed on, and how many creations wait for others. */
export const handoverOf = (reads: ClaimReads, needs: Needs): Handover => {
  const { policy, allotment, short, now, isStuck } = needs;
  if (isStuck) return { free: [], held: 0, heldOfQuit: 0, awaited: undefined };
  const mounted = new Set(reads.pods.flatMap(mountsOf));
  const isTaken = mayBeMounted(allotment);
  const there = new Set([
    ...reads.claims.filter((claim) => !isEnding(claim)).map(({ metadata }) => metadata.name),
    ...[...mounted].filter((name) => ownName.test(name)),
  ]).size;
  const free = reads.claims.filter(
    (claim) =>
      isUsable(claim) && now >= (allotment.claimsFrom ?? 0) && !mounted.has(claim.metadata.name) && !isTaken(claim),
  );
  const soon = soonGone(reads, needs);
  const awaited = awaitedAmong(soon, needs);
  const waitedFor = awaited === undefined || now >= awaited.until ? [] : soon;
  const missing = Math.max(0, short - Math.ceil(free.length / policy.each));
  const heldBy = (count: number): number =>
    Math.min(short, Math.max(Math.min(count, missing), short - mostWith(free.length, there, needs)));
  const held = heldBy(waitedFor.filter(({ state }) => state !== "quit").length);
  return { free, held, heldOfQuit: heldBy(waitedFor.length) - held, awaited };
};

/** Hands claims on: for each executor, in the order of its own claims, a free one that fits, or undefined. */
export const handOn = (
  free: readonly Stored[],
  own: readonly Obj[],
  executors: number,
): readonly (readonly (Stored | undefined)[])[] => {
  const left = new Map<string | undefined, Stored[]>();
  for (const claim of free) left.set(fitOf(claim), [...(left.get(fitOf(claim)) ?? []), claim]);
  return Array.from({ length: executors }, () => own.map((claim) => left.get(fitOf(claim))?.shift()));
};

/** The first digits of the UIDs of claims, as a round of creations keeps them. */
export const marksOf = (handed: readonly (readonly (Stored | undefined)[])[]): string =>
  handed
    .flat()
    .map((claim) => (claim === undefined ? "" : markOf(claim.metadata.uid)))
    .join("");

type Executor = { readonly pod: Obj; readonly claims: readonly Obj[] };

/** The executor with the claims that it was handed in the place of its own, which are not created then. */
export const withClaims = ({ pod, claims }: Executor, handed: readonly (Stored | undefined)[]): Executor => {
  const names = new Map(claims.map(({ metadata: { name } }, at) => [name, handed[at]?.metadata.name ?? name]));
  if (handed.every((claim) => claim === undefined)) return { pod, claims };
  const spec = podSpec(pod);
  const volumes = (spec.volumes ?? []).map((volume) => {
    const { persistentVolumeClaim: source } = volume;
    const name = source && names.get(source.claimName);
    return name === undefined ? volume : { ...volume, persistentVolumeClaim: { ...source, claimName: name } };
  });
  return {
    pod: { ...pod, spec: { ...spec, volumes } },
    claims: claims.filter((_, at) => handed[at] === undefined),
  };
};
