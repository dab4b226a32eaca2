/**
 * The types of objects of Kubernetes' own kinds, from @kubernetes/client-node. The API server has validated their
 * content, so the types hold for what it answers. What users write into custom objects and templates stays unknown until
 * a schema has read it.
 */
import type {
  V1Deployment,
  V1Lease,
  V1Node,
  V1PersistentVolumeClaim,
  V1Pod,
  V1PodDisruptionBudget,
  V1Service,
} from "@kubernetes/client-node";
import type { Obj } from "../core/object.ts";

/** A type of client-node as JSON carries it: instants are texts; nothing is changed in place. */
export type Wire<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? readonly Wire<Item>[]
    : T extends object
      ? { readonly [Field in keyof T]: Wire<T[Field]> }
      : T;

type Kinds = {
  readonly Deployment: V1Deployment;
  readonly Lease: V1Lease;
  readonly Node: V1Node;
  readonly PersistentVolumeClaim: V1PersistentVolumeClaim;
  readonly Pod: V1Pod;
  readonly PodDisruptionBudget: V1PodDisruptionBudget;
  readonly Service: V1Service;
};

/** A part of an object. Each field may be missing: a watch keeps the fields that decisions read, and no others. */
export type Part<T> = { readonly [Field in keyof Wire<T>]?: Wire<T>[Field] };

type Field<T, Name extends string> = Name extends keyof T ? NonNullable<T[Name]> : never;

/** The parts of an object of this kind beside its metadata. */
export type Typed<Kind extends keyof Kinds> = {
  readonly spec?: Part<Field<Kinds[Kind], "spec">>;
  readonly status?: Part<Field<Kinds[Kind], "status">>;
};

const isOf = <Kind extends keyof Kinds>(kind: Kind, object: Obj): object is Obj & Typed<Kind> => object.kind === kind;

/** Returns the typed parts of an object; none if it is of another kind. */
export const typed = <Kind extends keyof Kinds>(kind: Kind, object: Obj | undefined): Typed<Kind> =>
  object !== undefined && isOf(kind, object) ? object : {};
