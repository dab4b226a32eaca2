/**
 * Finds the fields of a kind that have an effect: each is tried with two values, in the context that gives it a
 * meaning.
 */
import assert from "node:assert/strict";
import { everyNth, isExhaustive } from "../../../support/cases.ts";
import { type Fields, isFields } from "../../infra/crd-comparison.ts";
import type { Following } from "./following.ts";
import { type Field, fieldsOf, merged, type Samples } from "./paths.ts";

/** The fields beside which a field has a meaning. */
export type Context = { readonly below: RegExp; readonly with: Fields };

export type Exception = { readonly path: RegExp; readonly why: string };

export type Kind = {
  readonly base: Fields;
  readonly contexts: readonly Context[];
  readonly samples: Samples;
  readonly follow: (spec: Fields) => Following;
  /** The field has no effect. */
  readonly ignored: readonly Exception[];
  /** One of the two values is refused. */
  readonly refused: readonly Exception[];
};

const differ = (one: Following, other: Following): boolean => one.made !== other.made || one.later() !== other.later();

type Found = { readonly field: string; readonly is: "effective" | "ignored" | "refused"; readonly why?: string };

const found = ({ base, contexts: all, follow }: Kind, { path, one, other }: Field): Found => {
  const around = all.filter(({ below }) => below.test(path)).map((context): unknown => context.with);
  const specs = [one, other].map((value) => [...around, value].reduce(merged, base));
  const [a, b] = specs.map((spec) => follow(isFields(spec) ? spec : {}));
  assert.ok(a !== undefined && b !== undefined);
  const why = a.refused ?? b.refused;
  if (why !== undefined) return { field: path, is: "refused", why };
  return { field: path, is: differ(a, b) ? "effective" : "ignored" };
};

export const unexpected = (all: readonly Found[], kind: Kind): readonly Found[] =>
  all.filter(({ field, is }) => is !== "effective" && !kind[is].some(({ path }) => path.test(field)));

export const findings = (kind: Kind, schema: Fields): readonly Found[] =>
  fieldsOf(schema, kind.samples).map((field) => found(kind, field));

/** The same of every sixth field, in `npm test` alone: upstream's schemas name each field of a pod at many places. */
export const someFindings = (kind: Kind, schema: Fields): readonly Found[] =>
  everyNth(6, fieldsOf(schema, kind.samples)).map((field) => found(kind, field));

/** Returns the exceptions that match no field, once all fields have been tried. */
export const idle = (all: readonly Found[], { ignored, refused }: Kind): readonly Exception[] => {
  if (!isExhaustive()) return [];
  const without = all.filter(({ is }) => is !== "effective");
  return [...ignored, ...refused].filter(({ path }) => !without.some(({ field }) => path.test(field)));
};
