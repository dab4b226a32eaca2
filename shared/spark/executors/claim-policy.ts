/** The confs that decide whether executors take the claims of those that are gone, and find the data on them. */
import type { Texts } from "../configuration/conf.ts";

/** How a run hands claims on. */
export type ClaimPolicy = {
  /** Claims of one executor. */
  readonly each: number;
  /** No claim is created while there are as many as executors are wanted. */
  readonly waits: boolean;
};

const volumeConf = /^spark\.kubernetes\.executor\.volumes\.persistentVolumeClaim\.([^.]+)\.options\.storageClass$/;
const driverConf = (name: string): string => `spark.kubernetes.driver.${name}PersistentVolumeClaim`;
const flagIn = (confs: Texts, key: string): string | undefined => confs[key]?.trim().toLowerCase();

/** Undefined where no claims are made for each executor, or where the user turned off that others use them. */
export const claimPolicyOf = (confs: Texts): ClaimPolicy | undefined => {
  if (["own", "reuse"].some((name) => flagIn(confs, driverConf(name)) === "false")) return undefined;
  const names = Object.keys(confs).flatMap((key) => {
    const volume = volumeConf.exec(key)?.[1];
    return volume === undefined ? [] : [confs[key.replace(/storageClass$/, "claimName")] ?? ""];
  });
  // A claim with a name of its own is every executor's.
  if (names.length === 0 || !names.every((name) => /OnDemand|SPARK_EXECUTOR_ID/.test(name))) return undefined;
  return { each: names.length, waits: flagIn(confs, driverConf("waitToReuse")) === "true" };
};

export const reuseConf = driverConf("reuse");
const shufflePlugin = "spark.shuffle.sort.io.plugin.class";

/**
 * True of confs with which executors find the shuffle data on claims that they are handed. They do so only where the
 * driver's conf says that claims are reused: unlike its driver, Spark's plugin takes an absent conf for false.
 */
export const recoversShuffle = (confs: Texts): boolean =>
  claimPolicyOf(confs) !== undefined &&
  confs[shufflePlugin]?.trim().endsWith(".KubernetesLocalDiskShuffleDataIO") === true;
