/** The form in which objects are answered: whole, their metadata only, or as a table for people. */
import { apiVersionOf, type Kind } from "./kinds.ts";
import type { Item } from "./metadata.ts";
import { inVersion, type Listing, listMeta, listText, listValue, readOf, textOf } from "./read.ts";
import { tableText } from "./tables.ts";

export type Form = {
  readonly one: (kind: Kind, item: Item) => string;
  readonly many: (kind: Kind, page: Listing) => string;
  /** The same answers as values, where the form has them. */
  readonly values?: {
    readonly one: (kind: Kind, item: Item) => unknown;
    readonly many: (kind: Kind, page: Listing) => unknown;
  };
};

const whole: Form = {
  one: (kind, item) => textOf(inVersion(kind, item)),
  many: listText,
  values: { one: (kind, item) => readOf(inVersion(kind, item)), many: listValue },
};

const metaApi = "meta.k8s.io/v1";

const metadataOf = (item: Item) => ({ kind: "PartialObjectMetadata", apiVersion: metaApi, metadata: item.metadata });

const metadataOnly: Form = {
  one: (_kind, item) => JSON.stringify(metadataOf(item)),
  many: (_kind, page) =>
    JSON.stringify({
      kind: "PartialObjectMetadataList",
      apiVersion: metaApi,
      metadata: listMeta(page),
      items: page.items.map(metadataOf),
    }),
};

const inTable = (now: () => number): Form => ({
  one: (kind, item) => tableText(kind, [item], { resourceVersion: item.metadata.resourceVersion }, now()),
  many: (kind, page) => tableText(kind, page.items, listMeta(page), now()),
});

/** The form that an Accept header asks for first among those it lists. */
export const formFor = (accept: string | undefined, now: () => number): Form => {
  if (accept === undefined || !accept.includes("as=")) return whole;
  for (const choice of accept.split(",")) {
    if (choice.includes("as=Table")) return inTable(now);
    if (choice.includes("as=PartialObjectMetadata")) return metadataOnly;
    if (choice.trim() === "application/json") return whole;
  }
  return whole;
};

/** The text of a bookmark: the kind and the revision, nothing else. */
export const bookmarkText = (kind: Kind, revision: number, ends: boolean): string =>
  JSON.stringify({
    type: "BOOKMARK",
    object: {
      kind: kind.kind,
      apiVersion: apiVersionOf(kind),
      metadata: {
        resourceVersion: String(revision),
        ...(ends && { annotations: { "k8s.io/initial-events-end": "true" } }),
      },
    },
  });
