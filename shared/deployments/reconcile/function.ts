/** The reconcile function of the kinds that this repository registers. */
import { sparkOptionsOf, timingOf } from "../settings/conversions.ts";
import { type Environment, type Settings, settingsFor } from "../settings/read.ts";
import { type BatchParts, openBatches, openHandler, type Reconcile } from "./batch-handler.ts";
import { type Families, openFamilies } from "./families.ts";

export type { Reconcile } from "./batch-handler.ts";

const familiesOf = (settings: Settings<"reconcile">): Families =>
  openFamilies({
    ...{ options: sparkOptionsOf(settings), queues: settings },
    ...{ families: settings.families, timing: timingOf(settings) },
  });

/** Opens the taking of batches from the environment's settings. Nothing is connected before the first delivery. */
export const openTaking = (env: Environment): BatchParts => {
  const settings = settingsFor("reconcile", env);
  return openBatches(settings, familiesOf(settings));
};

/** Opens everything once per environment. */
export const openReconcile = async (env: Environment): Promise<Reconcile> => {
  const settings = settingsFor("reconcile", env);
  return await openHandler(settings, familiesOf(settings));
};
