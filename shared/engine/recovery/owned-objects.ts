/** What belongs to a key right now: found live, and known by its owners' UIDs, never by name or label alone. */
import type { Key } from "../../core/key.ts";
import type { Ref, Stored } from "../../core/object.ts";
import type { Operator } from "../../core/operator.ts";
import { queryId, type Seen } from "../../core/plan.ts";
import type { OwnedObjects } from "../../core/recovery.ts";
import type { Cluster } from "../ports.ts";
import { answerQuery, noAnswers } from "../query.ts";

export type OwnedObject = { readonly ref: Ref; readonly object: Stored };

export type Survey = { readonly seen: Seen; readonly pieces: readonly OwnedObject[] };

const nothing: Survey = { seen: new Map(), pieces: [] };

type Query = OwnedObjects["queries"][number];

const resourceOf = (query: Query): Ref["resource"] => (query.do === "get" ? query.ref.resource : query.resource);

const refOf = (query: Query, { metadata: { name, namespace } }: Stored): Ref => ({
  resource: resourceOf(query),
  name,
  ...(namespace === undefined ? {} : { namespace }),
});

const isOwned = ({ object }: OwnedObject, owners: ReadonlySet<string>): boolean =>
  object.metadata.ownerReferences?.some(({ uid }) => owners.has(uid)) ?? false;

/** Whatever an owner owns, and what that owns in turn. */
export const ownedIn = ({ queries, owners }: OwnedObjects, seen: Seen): readonly OwnedObject[] => {
  const all = queries.flatMap((query) =>
    (seen.get(queryId(query)) ?? []).map((object): OwnedObject => ({ ref: refOf(query, object), object })),
  );
  const known = new Set(owners);
  for (let before = -1; before < known.size; ) {
    before = known.size;
    for (const piece of all) if (isOwned(piece, known)) known.add(piece.object.metadata.uid);
  }
  return all.filter((piece) => isOwned(piece, known));
};

export type About = { readonly key: Key; readonly uid: string; readonly memory: unknown };

/** Looks at all that a kind says may belong to this UID. */
export const findOwned = async (cluster: Cluster, operator: Operator<unknown>, about: About): Promise<Survey> => {
  const { recovery } = operator;
  if (recovery === undefined) return nothing;
  const estate = recovery.estate(about.key, about.uid, about.memory);
  const answers = noAnswers();
  await Promise.all(estate.queries.map((query) => answerQuery(cluster, query, answers)));
  const { seen } = answers;
  return { seen, pieces: ownedIn(estate, seen) };
};

/** Those that live, and whose end nobody has begun. */
export const livingIn = ({ pieces }: Survey, { recovery }: Operator<unknown>): readonly Ref[] =>
  pieces
    .filter(({ object }) => object.metadata.deletionTimestamp === undefined && recovery?.isLive(object) === true)
    .map(({ ref }) => ref);
