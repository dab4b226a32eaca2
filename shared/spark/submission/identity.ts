/** The names that Spark's client draws by lot, derived instead: the same attempt of the same application, the same names. */
import { digest } from "../../core/key.ts";

export type Identity = {
  readonly submissionId: string;
  /** `spark.app.id` and the label `spark-app-selector`. */
  readonly applicationId: string;
  /** Start of the names of everything that belongs to the driver. */
  readonly prefix: string;
  readonly serviceName: string;
  readonly confMapName: string;
  readonly localDir: string;
};

/** A hash in the shape of a UUID, marked as version 8: made by a rule of its own. */
const uuidOf = (hex: string): string => {
  const variant = "89ab"[Number.parseInt(hex.slice(16, 17), 16) % 4];
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
};

/** A name as Spark makes it fit for resources. */
const resourceName = (text: string): string =>
  text
    .trim()
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, "-")
    .replaceAll(/-+/g, "-")
    .replace(/^-/, "")
    .replace(/^[0-9]/, "x");

/** A name as Spark makes it fit for a label's value. */
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

/** `seed` is what tells this submission from every other: the application's UID and the attempt. */
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
