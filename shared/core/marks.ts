/** The digest of an object's labels and annotations: unlike the spec, they have no generation that tells of a change. */
import { digestOf } from "./json.ts";
import type { Metadata, Stored } from "./object.ts";

/** The annotation in which kubectl repeats the whole object. It decides nothing, and watches keep no copy of it. */
export const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/** Returns a digest of the labels and annotations. */
export const marksOf = ({ labels = {}, annotations = {} }: Metadata): string => {
  const { [lastApplied]: _, ...kept } = annotations;
  return digestOf([labels, kept]).slice(0, 16);
};

/** Returns the digest that the record of an object at rest keeps. */
export const keptMarks = (object: Stored | undefined): { readonly marks?: string } =>
  object === undefined ? {} : { marks: marksOf(object.metadata) };
