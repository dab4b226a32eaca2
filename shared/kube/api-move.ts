/** A move of a running application between two APIs of one kind of work, as the command line carries it out. */
import type { Obj, OwnerReference, Resource, Stored } from "../core/object.ts";

/** Annotation of the old object: the API group that it moves to. */
export const movingTo = "rekindle.dev/moving-to";

/** Annotation of the new object until it is whole: the UID of the old one. */
export const movedFrom = "rekindle.dev/moved-from";

export type Translated = {
  /** The application in the other API, as a user would create it; undefined where it cannot be written. */
  readonly object: Obj | undefined;
  /** The changes that a user will see, each in words. */
  readonly differs: readonly string[];
  /** The reasons why the application cannot move, each with the thing to change. */
  readonly blocks: readonly string[];
};

export type Direction = {
  readonly from: Resource;
  readonly to: Resource;
  /** The finalizer of upstream's operator, which would delete the driver; absent: it has none. */
  readonly finalizer?: string;
  translate(object: Stored): Translated;
  /** The status of an application whose driver runs; the other API's controller continues from it. */
  statusOf(object: Stored, driver: Stored): unknown;
  /** Returns why a run with this driver pod cannot move, each with the thing to change. */
  obstaclesIn(driver: Stored): readonly string[];
  /** Labels that the objects of the run get. Those of the other API stay, because Services select the driver by them. */
  labelsOf(target: Stored, driver: Stored): Readonly<Record<string, string>>;
  /** The reference to the new owner. */
  ownerOf(target: Stored): OwnerReference;
};
