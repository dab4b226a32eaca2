/**
 * Prices of requested cores and memory: a usual one, and others for nodes with certain labels, such as Spot nodes or an
 * instance type.
 */
import * as z from "zod";

const rate = () => ({ core: z.number().min(0), gib: z.number().min(0) });

/** A function, so that a cold start that reads no prices builds no schema. */
export const pricesShape = () =>
  z.strictObject(
    {
      /** The word that stands behind an amount. */
      currency: z.string().min(1).max(12),
      /** Per core and hour, and per GiB and hour. */
      ...rate(),
      /** The first whose labels a node has is its price. */
      nodes: z
        .array(z.strictObject({ labels: z.record(z.string(), z.string()), ...rate() }))
        .max(64)
        .default([]),
    },
    { error: 'write JSON such as {"currency": "US$", "core": 0.04, "gib": 0.005}' },
  );

export type Prices = Readonly<z.infer<ReturnType<typeof pricesShape>>>;

/** Prices of one core and of one GiB for an hour. */
export type Rate = { readonly core: number; readonly gib: number };

/** Returns the price on a node with these labels. */
export const rateWith = ({ core, gib, nodes }: Prices, labels: Readonly<Record<string, string>>): Rate =>
  nodes.find((one) => Object.entries(one.labels).every(([name, value]) => labels[name] === value)) ?? { core, gib };

/** Returns the price of cores and GiB for some hours. */
export const costOf = ({ core, gib }: Rate, hours: { readonly cores: number; readonly gib: number }): number =>
  core * hours.cores + gib * hours.gib;
