/**
 * Kubernetes objects as the engine handles them: metadata is typed, all other fields are unknown until a kind parses
 * them.
 */

/** The API resource of a kind. `group` is "" for core/v1. */
export type Resource = {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  /** The name of the kind in keys, where a kind of another group has its name already; absent: `kind`. */
  readonly keyKind?: string;
};

export type OwnerReference = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
};

export type Metadata = {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
};

/** Label of what is created for one attempt of an application: the attempt's number, from 1. */
export const attemptLabel = "rekindle.dev/attempt";

/** An object of any kind. Fields beyond metadata are unknown: parse them with zod before use. */
export type Obj = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
  readonly spec?: unknown;
  readonly status?: unknown;
  readonly [field: string]: unknown;
};

export type StoredMetadata = Metadata & { readonly uid: string; readonly resourceVersion: string };

/** An object as read from the API: it has a UID and a resourceVersion. */
export type Stored = Obj & { readonly metadata: StoredMetadata };

/** The location of an object; cluster-scoped objects have no namespace. */
export type Ref = { readonly resource: Resource; readonly namespace?: string; readonly name: string };

/** A subdomain of RFC 1123, which is the form of most objects' names; its length is checked elsewhere. */
export const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** A label of RFC 1123, which is the form of the names of namespaces. */
export const namespaceName = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

const label = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

/** True if the text is valid as the value of a label. */
export const isLabelValue = (text: string): boolean => label.test(text);

/** Returns the kind that keys of the resource's objects have, and with them records, queue groups, commands and URLs. */
export const keyKindOf = ({ kind, keyKind = kind }: Pick<Resource, "kind" | "keyKind">): string => keyKind;

/** `group/version` as the `apiVersion` field writes it. */
export const apiVersionOf = (resource: Resource): string =>
  resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;

/** Returns the location of an object of this resource. */
export const refTo = (resource: Resource, { metadata: { name, namespace } }: Obj): Ref => ({
  resource,
  name,
  ...(namespace === undefined ? {} : { namespace }),
});

/** Returns the reference to the object's owner of this kind, in any version; undefined if it has none. */
export const ownerOfKind = (
  { metadata: { ownerReferences = [] } }: Obj,
  { group, kind }: Pick<Resource, "group" | "kind">,
): OwnerReference | undefined =>
  ownerReferences.find((owner) => owner.kind === kind && owner.apiVersion.startsWith(`${group}/`));

/** Text of a reference for messages: `pods default/spark-pi-driver`. */
export const refText = (ref: Ref): string =>
  `${ref.resource.plural} ${ref.namespace === undefined ? "" : `${ref.namespace}/`}${ref.name}`;
