/** Finds the objects that a key owns, live, by the UIDs in owner references. */
import { all, list } from "../../core/decision.ts";
import { type Key, textOf } from "../../core/key.ts";
import { type Ref, refTo, type Stored } from "../../core/object.ts";
import type { Operator } from "../../core/operator.ts";
import type { OwnedObjects } from "../../core/plan.ts";
import { resultOf, stepReads } from "../cluster/queries.ts";
import type { Cluster } from "../ports.ts";

export type OwnedObject = { readonly ref: Ref; readonly object: Stored };

/** The results of the queries, in their order. */
type Found = readonly (readonly Stored[])[];

export type Survey = { readonly found: Found; readonly pieces: readonly OwnedObject[] };

const nothing: Survey = { found: [], pieces: [] };

type Query = OwnedObjects["queries"][number];

const resourceOf = (query: Query): Ref["resource"] => (query.do === "get" ? query.ref.resource : query.resource);

const isOwned = ({ object }: OwnedObject, owners: ReadonlySet<string>): boolean =>
  object.metadata.ownerReferences?.some(({ uid }) => owners.has(uid)) ?? false;

/** Returns all objects that the owners own, directly or through other owned objects. */
export const ownedIn = ({ queries, owners }: OwnedObjects, found: Found): readonly OwnedObject[] => {
  const there = queries.flatMap((query, index) =>
    (found[index] ?? []).map((object): OwnedObject => ({ ref: refTo(resourceOf(query), object), object })),
  );
  const known = new Set(owners);
  for (let before = -1; before < known.size; ) {
    before = known.size;
    for (const piece of there) if (isOwned(piece, known)) known.add(piece.object.metadata.uid);
  }
  return there.filter((piece) => isOwned(piece, known));
};

export type OwnerContext = { readonly key: Key; readonly uid: string; readonly memory: unknown };

/** Reads all objects that may belong to this UID, according to its kind. */
export const findOwned = async (
  cluster: Cluster,
  operator: Operator<unknown>,
  about: OwnerContext,
): Promise<Survey> => {
  const { recovery } = operator;
  if (recovery === undefined) return nothing;
  const ownedObjects = recovery.ownedObjects(about.key, about.uid, about.memory);
  const found = await resultOf(() => all(ownedObjects.queries.map(list)), stepReads(cluster), textOf(about.key));
  return { found, pieces: ownedIn(ownedObjects, found) };
};

/** Returns the objects that are live and not being deleted. */
export const livingIn = ({ pieces }: Survey, { recovery }: Operator<unknown>): readonly Ref[] =>
  pieces
    .filter(({ object }) => object.metadata.deletionTimestamp === undefined && recovery?.isLive(object) === true)
    .map(({ ref }) => ref);
