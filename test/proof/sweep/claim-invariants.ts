/**
 * The invariants of claims that are handed on, judged from objects alone.
 *
 * E13. No pod comes with a claim that a pod which is still there mounts.
 * E14. No claim is created and used while another one of its driver, of the same class, size and volume, is free, and
 *      was for long.
 * E15. No more claims are created than the scenario names.
 */
import type { Change } from "../../../shared/simulator/storage/store.ts";
import type { Demand } from "./demand-invariants.ts";
import type { Facts } from "./facts.ts";
import { at, ownersOf, textAt } from "./fields.ts";

type Item = Change["object"];
type Blame = (what: string) => void;

const mountsIn = (pod: Item): readonly string[] => {
  const volumes = at(pod, "spec", "volumes");
  const all: readonly unknown[] = Array.isArray(volumes) ? volumes : [];
  return all.flatMap((volume) => textAt(volume, "persistentVolumeClaim", "claimName") ?? []);
};

/** Claims that agree in it replace each other: those of one driver, with one class, size and place of the volume. */
const sortOf = (claim: Item): string =>
  JSON.stringify([
    ...[...ownersOf(claim)].sort(),
    ...[textAt(claim, "spec", "storageClassName"), textAt(claim, "spec", "resources", "requests", "storage")],
    /-pvc-\d+$/.exec(claim.metadata.name)?.[0],
  ]);

/**
 * The longest time for which a claim may be free and not be used, ms: a creation that was lost counts as on its way for
 * 16 s, and a decision that was made before may arrive 16 s late.
 */
const longestFreeMs = 35_000;

const hearClaim = (facts: Facts, { type, object }: Change, { now, demand }: Hearing, blame: Blame): void => {
  const { claims } = facts;
  const { uid, name } = object.metadata;
  if (type === "DELETED") claims.delete(uid);
  if (type !== "ADDED") return;
  claims.set(uid, { name, sort: sortOf(object), createdAt: now, freeSince: now, isNew: true });
  facts.claimsMade += 1;
  if (facts.claimsMade > (demand?.claims ?? facts.claimsMade))
    blame(`E15: ${facts.claimsMade} claims were created where ${demand?.claims} are enough`);
};

/** Suspects each claim that is free at the first mount of another one, and was for long when that was created. */
const suspect = ({ claims, suspicions }: Facts, names: readonly string[], now: number): void => {
  for (const made of claims.values())
    if (made.isNew && names.includes(made.name))
      for (const [uid, { sort, freeSince, name }] of claims)
        if (sort === made.sort && freeSince !== undefined && freeSince + longestFreeMs < made.createdAt)
          suspicions.push({
            uid,
            freeSince,
            until: now + longestFreeMs,
            what: `${made.name} is used, and not ${name}`,
          });
};

/** E14: a claim that is still free was not about to be mounted by the same step. */
const checkSuspicions = (facts: Facts, now: number, blame: Blame): void => {
  for (const { uid, freeSince, until, what } of facts.suspicions)
    if (now > until && facts.claims.get(uid)?.freeSince === freeSince)
      blame(`E14: ${what}, which has been free for long`);
  facts.suspicions = facts.suspicions.filter(({ until }) => now <= until);
};

const hearMounts = (facts: Facts, { type, object }: Change, now: number, blame: Blame): void => {
  const { mounts, claims } = facts;
  const { uid, name } = object.metadata;
  const names = mountsIn(object);
  if (type === "ADDED") {
    for (const [pod, other] of mounts)
      for (const claim of other.filter((one) => names.includes(one)))
        blame(`E13: ${name} comes with ${claim}, which the pod ${pod} mounts`);
    if (names.length > 0) mounts.set(uid, [...names]);
    suspect(facts, names, now);
  }
  if (type === "DELETED") mounts.delete(uid);
  for (const claim of claims.values())
    if (names.includes(claim.name))
      Object.assign(claim, { isNew: false, freeSince: type === "DELETED" ? now : undefined });
};

type Hearing = { readonly now: number; readonly demand: Demand | undefined };

/** E13 to E15, for each change. */
export const checkClaims = (facts: Facts, change: Change, hearing: Hearing, blame: Blame): void => {
  if (hearing.demand === undefined) return;
  if (change.table === "persistentvolumeclaims") hearClaim(facts, change, hearing, blame);
  if (change.table === "pods") hearMounts(facts, change, hearing.now, blame);
  checkSuspicions(facts, hearing.now, blame);
};
