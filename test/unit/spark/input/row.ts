/** One bad input, what admission says of it, and what becomes of it where no webhook is installed. */
import type { Obj } from "../../../../shared/core/object.ts";
import { good } from "../admission/reviews.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What a submission makes: the driver's pod, and what stands beside it. */
export type Made = { readonly driver: Obj; readonly before: readonly Obj[] };

export type Row = {
  /** The family of the catalogue, and the input. */
  readonly name: string;
  readonly spec: unknown;
  readonly metadata?: Fields;
  readonly status?: unknown;
} & (
  | {
      /** The message, field by field, at the door and in the status alike. */
      readonly says: RegExp;
      /** Whether admission refuses it, or stores it with a warning, as upstream stores it. */
      readonly door: "refuses" | "warns";
    }
  | {
      /** It runs all the same; the pod holds what it should. */
      readonly runs: (made: Made) => boolean;
      readonly warns?: RegExp;
    }
);

/** A spec that runs, changed; undefined takes a field away. */
export const changed = (changes: Fields): Fields => ({ ...good, ...changes });

export const refuses = (name: string, changes: Fields, says: RegExp): Row => ({
  ...{ name, says, door: "refuses" },
  spec: changed(changes),
});

/** Only a submission finds it: upstream stores it, and so do we. */
export const warns = (name: string, changes: Fields, says: RegExp): Row => ({
  ...{ name, says, door: "warns" },
  spec: changed(changes),
});

export const runs = (name: string, changes: Fields, holds: (made: Made) => boolean): Row => ({
  ...{ name, runs: holds },
  spec: changed(changes),
});

const at = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (inner, key) => (typeof inner === "object" && inner !== null ? Reflect.get(inner, key) : undefined),
    value,
  );

/** Whatever stands at a path of the driver's pod, as text. */
export const inDriver = ({ driver }: Made, ...path: readonly string[]): string =>
  JSON.stringify(at(driver, path)) ?? "";

/** The driver's properties, as Spark is to read them. */
export const properties = ({ before }: Made): string =>
  before
    .map((object) => at(object, ["data", "spark.properties"]))
    .find((text) => typeof text === "string")
    ?.toString() ?? "";
