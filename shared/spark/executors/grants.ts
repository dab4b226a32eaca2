/** The executors that Kueue has granted to an application, by the name of their flavors. */
import { mostExecutors } from "../schema/limits.ts";

/** The executors that may live, by the name of their flavors. */
export type Grants = Readonly<Record<string, number>>;

/** The executors of all flavors. */
export const totalOf = (grants: Grants): number =>
  Object.values(grants).reduce((sum, executors) => Math.min(mostExecutors, sum + executors), 0);

/** The executors that may live: those of the base, and those that growths grant. */
export const withBase = (base: number, { "": alike = 0, ...others }: Grants): Grants => ({
  "": base + alike,
  ...others,
});

/** The executors that these flavors grant. */
export const grantOn = (grants: Grants, flavors: string): number =>
  Object.hasOwn(grants, flavors) ? (grants[flavors] ?? 0) : 0;
