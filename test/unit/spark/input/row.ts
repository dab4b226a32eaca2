/** One bad input, the answer of admission, and the outcome where no webhook is installed. */
import type { Obj } from "../../../../shared/core/object.ts";
import { good } from "../admission/reviews.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The objects of a submission: the driver pod, and the objects that are created before it. */
export type Made = { readonly driver: Obj; readonly before: readonly Obj[] };

export type Row = {
  /** The input. */
  readonly name: string;
  readonly spec: unknown;
  readonly metadata?: Fields;
  readonly status?: unknown;
  /** True: too large for a test that has all inputs in one cluster. */
  readonly isLarge?: true;
} & (
  | {
      /** The message, field by field, of admission and in the status. */
      readonly says: RegExp;
      /** Whether admission refuses it, or stores it with a warning where upstream stores it. */
      readonly door: "refuses" | "warns";
    }
  | {
      /** The application runs; tells whether its objects are as they should be. */
      readonly runs: (made: Made) => boolean;
      readonly warns?: RegExp;
    }
);

/** Returns a valid spec with changes; undefined removes a field. */
export const changed = (changes: Fields): Fields => ({ ...good, ...changes });

export const refuses = (name: string, changes: Fields, says: RegExp): Row => ({
  ...{ name, says, door: "refuses" },
  spec: changed(changes),
});

/** Returns a row that only a submission refuses: admission stores it with a warning, as upstream stores it. */
export const warns = (name: string, changes: Fields, says: RegExp): Row => ({
  ...{ name, says, door: "warns" },
  spec: changed(changes),
});

export const runs = (name: string, changes: Fields, holds: (made: Made) => boolean): Row => ({
  ...{ name, runs: holds },
  spec: changed(changes),
});

export const enlarged = (row: Row): Row => ({ ...row, isLarge: true });

const at = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (inner, key) => (typeof inner === "object" && inner !== null ? Reflect.get(inner, key) : undefined),
    value,
  );

/** Returns the value at a path of the driver pod, as JSON. */
export const inDriver = ({ driver }: Made, ...path: readonly string[]): string =>
  JSON.stringify(at(driver, path)) ?? "";

/** Returns the driver's properties file, as Spark reads it. */
export const properties = ({ before }: Made): string =>
  before
    .map((object) => at(object, ["data", "spark.properties"]))
    .find((text) => typeof text === "string")
    ?.toString() ?? "";
