/** The names that Spark's client draws at random, derived from the application and the attempt instead. */
import { digest } from "../../../core/key.ts";

export type Identity = {
  readonly submissionId: string;
  /** `spark.app.id` and the label `spark-app-selector`. */
  readonly applicationId: string;
  /** Prefix of the names of all objects of the driver. */
  readonly prefix: string;
  readonly serviceName: string;
  readonly confMapName: string;
  readonly localDir: string;
};

/** A hash as a UUID of version 8, the version for custom rules. */
const uuidOf = (hex: string): string => {
  const variant = "89ab"[Number.parseInt(hex.slice(16, 17), 16) % 4];
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
};

/** A resource name as Spark derives it. */
const resourceName = (text: string): string =>
  text
    .trim()
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, "-")
    .replaceAll(/-+/g, "-")
    .replace(/^-/, "")
    .replace(/^[0-9]/, "x");

/** A label value as Spark derives it. */
export const labelOf = (appName: string): string =>
  appName
    .trim()
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, "-")
    .replaceAll(/-+/g, "-")
    .slice(0, 63)
    .replace(/^-/, "")
    .replace(/-$/, "");

const longestService = 63;

const serviceNameOf = (prefix: string, shortId: string): string => {
  const preferred = `${prefix}-driver-svc`;
  return preferred.length <= longestService ? preferred : `spark-${shortId}-driver-svc`;
};

/** Returns the names of one submission. `seed` identifies it: the application's UID and the attempt. */
export const identityOf = (appName: string, seed: string): Identity => {
  const drawn = (what: string, length: number): string => digest("rekindle", what, seed).slice(0, length);
  const prefix = resourceName(`${appName}-${drawn("prefix", 16)}`);
  return {
    submissionId: uuidOf(drawn("submission", 32)),
    applicationId: `spark-${drawn("application", 32)}`,
    prefix,
    serviceName: serviceNameOf(prefix, drawn("service", 16)),
    confMapName: `spark-drv-${drawn("conf", 16)}-conf-map`,
    localDir: `/var/data/spark-${uuidOf(drawn("dir", 32))}`,
  };
};
