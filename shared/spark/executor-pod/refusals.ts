/** The requests for which Spark's own allocator refuses to create an executor. */

import { below } from "../configuration/conf.ts";
import { isQuantity } from "../configuration/quantity.ts";
import { wrongResources } from "../submission/steps/resources.ts";
import { partsOf } from "../submission/steps/secrets.ts";
import { wrongVolumes } from "../submission/steps/volume-rules.ts";
import { mountedTwice, volumesIn } from "../submission/steps/volumes.ts";
import { blockManagerPort, executorImage } from "./basic.ts";
import type { ExecutorContext } from "./request.ts";

type Check = (context: ExecutorContext) => readonly string[];

const image: Check = (context) =>
  (executorImage(context) ?? "") === "" ? ["Must specify the executor container image: set spec.executor.image"] : [];

const reserved = ["version", "exec-id", "app-selector", "app-name", "role", "exec-resourceprofile-id"];

const labels: Check = ({ conf }) =>
  reserved
    .map((name) => `spark-${name}`)
    .filter((key) => Object.hasOwn(below(conf, "spark.kubernetes.executor.label."), key))
    .map((key) => `Executor label ${key} is reserved for Spark: choose another`);

const longestPrefix = 237;
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

const prefix: Check = ({ conf }) => {
  const key = "spark.kubernetes.executor.podNamePrefix";
  const text = conf.get(key);
  return text === undefined || (text.length <= longestPrefix && subdomain.test(text))
    ? []
    : [`${key}: ${JSON.stringify(text)} cannot begin the name of a pod: lower case letters, digits, "-" and "."`];
};

const port: Check = (context) => {
  const number = blockManagerPort(context);
  return number === 0 || (number >= 1024 && number < 65_536)
    ? []
    : [`spark.blockManager.port: ${number} is no port number of an executor: 0 or 1024 to 65535`];
};

const coresOf = (text: string): number => (text.endsWith("m") ? Number.parseFloat(text) / 1000 : Number(text));

const cores: Check = ({ conf, rules }) => {
  const request = conf.get("spark.kubernetes.executor.request.cores") ?? conf.get("spark.executor.cores") ?? "1";
  const limit = conf.get("spark.kubernetes.executor.limit.cores");
  const strange = [request, limit ?? "1"].filter((text) => !isQuantity(text));
  if (strange.length > 0)
    return strange.map((text) => `cores: ${JSON.stringify(text)} is not in the format of a quantity`);
  return !rules.executors.limited || limit === undefined || coresOf(limit) >= coresOf(request)
    ? []
    : [`The executor cpu request (${request}) is more than its limit (${limit}): raise spec.executor.coreLimit`];
};

const secretKeys: Check = ({ conf }) =>
  Object.entries(below(conf, "spark.kubernetes.executor.secretKeyRef."))
    .filter(([, reference]) => partsOf(reference).length !== 2)
    .map(([name]) => `spark.kubernetes.executor.secretKeyRef.${name} must be in the form name:key`);

const spaces: Check = ({ conf, rules }) => {
  const start = "spark.kubernetes.executor.volumes.";
  const twice = mountedTwice(volumesIn(conf, start));
  return [...wrongVolumes(conf, start, rules), ...twice.map((path) => `Found duplicated mountPath: '${path}'`)];
};

/** Refuses a secret that the driver generates, because only the driver knows it. */
const secret: Check = ({ conf, authSecret }) =>
  conf.get("spark.authenticate") === "true" && authSecret === undefined && !conf.has("spark.authenticate.secret.file")
    ? ["spark.authenticate: its secret key is made in the driver: set spark.authenticate.secret.file"]
    : [];

const factor: Check = ({ conf }) =>
  Number(conf.get("spark.executor.memoryOverheadFactor") ?? "1") > 0
    ? []
    : ["spark.executor.memoryOverheadFactor: a memory overhead is greater than 0"];

const devices: Check = ({ conf }) => wrongResources(conf, "spark.executor");

const checks: readonly Check[] = [image, labels, prefix, port, cores, secretKeys, spaces, secret, factor, devices];

/** All reasons for a refusal in one text; undefined when there is none. */
export const refusalOf = (context: ExecutorContext): string | undefined => {
  const found = checks.flatMap((check) => check(context));
  return found.length === 0 ? undefined : found.join("; ");
};
