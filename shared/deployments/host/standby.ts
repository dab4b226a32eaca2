/** Standby of a host while another controller of its kinds is at work. */

import type { Watcher } from "../../core/operator.ts";
import type { World } from "../../engine/context/world.ts";
import type { Report } from "../../engine/ports.ts";
import { type FindControllers, type Standby, type Standing, startStandby } from "../../forward/controller-detection.ts";
import { standbyOfSteps } from "../common/standby.ts";
import type { Families } from "../reconcile/families.ts";

/**
 * The interval of looks for another controller, ms. `rekindle migrate` counts on this host standing by within that
 * time.
 */
const asideMs = 5_000;

/** The API group by which a kind belongs to a family; "": the kind is not run here. */
const groupIn = ({ kinds }: Families, about: string): string => {
  const known = kinds.find(({ kind }) => kind === about);
  return known?.family ?? known?.resource.group ?? "";
};

type Looking = {
  /** Detects other controllers; absent: this host never stands by. */
  readonly lookout?: FindControllers | undefined;
  readonly report: Report;
};

type Aside = {
  /** The other controllers that are at work. */
  standing(): Standing;
  /** Makes the standby of steps of these kinds. */
  standbyOf(families: Families): NonNullable<World["standby"]>;
  /** Begins to look. `freed` is called when another controller has gone, so that no key waits until it comes again. */
  start(operators: readonly Watcher[], freed: () => void): Promise<void>;
  /** Begins no other look, and resolves when the one in flight has ended. */
  stop(): Promise<void>;
};

/** Opens standby. It logs every change through the unlimited report. */
export const openAside = ({ lookout: look, report }: Looking): Aside => {
  let standby: Standby | undefined;
  return {
    standing: () => standby?.all() ?? new Map(),
    standbyOf: (families) => standbyOfSteps((kind) => standby?.signs(groupIn(families, kind)) ?? [], Date.now),
    start: async (operators, freed) => {
      if (look === undefined) return;
      const groups = operators.map(({ resource }) => resource.group);
      standby = await startStandby({ look, groups, everyMs: asideMs, report, freed });
    },
    stop: async () => await standby?.stop(),
  };
};
