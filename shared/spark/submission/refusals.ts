/** Submissions that Spark's client refuses, and those that only Spark's client could do, each with its remedy. */

import { below, type Conf, listOf, type Texts, wrongValues } from "../configuration/conf.ts";
import type { Rules } from "../configuration/versions.ts";
import { imageOf, wrongResources } from "./steps/basic.ts";
import { credentialFiles, partsOf } from "./steps/credentials.ts";
import { customStepsConf, executorTemplateConf, podGroupFile, volcanoStep } from "./steps/driver.ts";
import { clientRules, type Identity, labelOf, type Request, withIds } from "./steps/step.ts";
import { wrongVolumes } from "./steps/volumes.ts";

const prefix = "spark.kubernetes.driver.label.";

/** Labels that a user may not set, because Spark identifies its pods by them. */
const reservedLabels: readonly string[] = ["spark-version", "spark-app-selector", "spark-app-name", "spark-role"];

const userLabels = (conf: Conf): Texts => below(conf, prefix);

export const driverLabels = (
  submission: { readonly conf: Conf; readonly sparkVersion: string; readonly identity: Identity },
  rules: Rules,
  appName: string,
): Texts => {
  const { conf, identity, sparkVersion } = submission;
  const own = userLabels(conf);
  return {
    ...(rules.idsInLabels ? withIds(own, identity.applicationId) : own),
    "spark-version": sparkVersion,
    "spark-app-selector": identity.applicationId,
    "spark-app-name": labelOf(appName),
    "spark-role": "driver",
  };
};

type Check = (request: Request, rules: Rules) => readonly string[];

const image: Check = (request, rules) =>
  (imageOf({ ...request, rules }) ?? "") === ""
    ? ["Must specify the driver container image: set spec.image or spec.driver.image"]
    : [];

const labels: Check = ({ conf }) =>
  reservedLabels
    .filter((key) => Object.hasOwn(userLabels(conf), key))
    .map(
      (key) =>
        `Label with key ${key} is not allowed as it is reserved for Spark bookkeeping operations: choose another`,
    );

const values: Check = ({ conf }, rules) => wrongValues(conf, rules);

const addresses: Check = ({ conf }) =>
  conf.has("spark.driver.bindAddress")
    ? ["spark.driver.bindAddress is not supported in Kubernetes mode, as it is the driver pod's IP address: remove it"]
    : [];

const secretKeys: Check = ({ conf }) =>
  Object.entries(below(conf, "spark.kubernetes.driver.secretKeyRef."))
    .filter(([, reference]) => partsOf(reference).length !== 2)
    .map(([name]) => `spark.kubernetes.driver.secretKeyRef.${name} must be in the form name:key`);

const pairs: readonly (readonly [string, string])[] = [
  ["spark.kerberos.keytab", "spark.kerberos.principal"],
  ["spark.kubernetes.kerberos.tokenSecret.name", "spark.kubernetes.kerberos.tokenSecret.itemKey"],
];

const together: Check = ({ conf }) =>
  pairs
    .filter(([one, other]) => conf.has(one) !== conf.has(other))
    .map(([one, other]) => `${one} and ${other} go together: set both or neither`);

const apart: Check = ({ conf, machine, proxyUser }) => [
  ...(conf.has("spark.kubernetes.hadoop.configMapName") && machine.hadoopFiles !== undefined
    ? ["spark.kubernetes.hadoop.configMapName and HADOOP_CONF_DIR exclude each other: keep one"]
    : []),
  ...(conf.has("spark.kubernetes.kerberos.krb5.configMapName") && conf.has("spark.kubernetes.kerberos.krb5.path")
    ? [
        "a local file (spark.kubernetes.kerberos.krb5.path) and a ConfigMap (krb5.configMapName) exclude each other: keep the ConfigMap",
      ]
    : []),
  ...(proxyUser !== undefined && conf.has("spark.kerberos.principal")
    ? ["Only one of a proxy user and a Kerberos principal can be provided"]
    : []),
];

const lists = ["spark.jars", "spark.files", "spark.archives", "spark.submit.pyFiles"];

/** True of `file:` URIs and bare paths, which are on the submitter's disk: there is none. */
const isLocal = (uri: string): boolean => /^file:/.test(uri) || !/^[A-Za-z][A-Za-z0-9+.-]*:/.test(uri);

const uploads: Check = ({ conf, program }) => {
  const uris = lists.flatMap((key) => listOf(conf.get(key)));
  const main = program.language === "python" && program.resource !== "spark-internal" ? [program.resource] : [];
  return [...new Set([...main, ...uris])]
    .filter(isLocal)
    .map(
      (uri) =>
        `${uri} is a file of the submitting machine, and no disk is here to upload from (spark.kubernetes.file.upload.path): use local:// (in the image) or a URL`,
    );
};

/** Confs that name files which Spark's client would read and copy into the cluster. */
const onDisk = [
  ...Object.keys(credentialFiles).map((suffix) => `spark.kubernetes.authenticate.driver.${suffix}`),
  "spark.kubernetes.kerberos.krb5.path",
  "spark.kerberos.keytab",
];

const files: Check = ({ conf, machine }) =>
  onDisk.flatMap((key) => {
    const path = conf.get(key);
    if (path === undefined || path.startsWith("local:") || machine.files?.[path] !== undefined) return [];
    return [`${key}: ${path} does not exist on the submitting machine: put it into the cluster or the image instead`];
  });

const templateFiles: Check = ({ conf, templates }) => [
  ...(conf.has("spark.kubernetes.driver.podTemplateFile") && templates.driver === undefined
    ? [`Could not load pod from template file ${conf.get("spark.kubernetes.driver.podTemplateFile")}`]
    : []),
  ...(conf.has(executorTemplateConf) && templates.executor === undefined
    ? [`Could not load pod from template file ${conf.get(executorTemplateConf)}`]
    : []),
];

const customSteps: Check = ({ conf, templates }) => [
  ...listOf(conf.get(customStepsConf))
    .filter((name) => name !== volcanoStep)
    .map((name) => `${customStepsConf} names the class ${name}, and no JVM runs here: use spec.driver.template`),
  ...(conf.has(podGroupFile) && templates.podGroup === undefined
    ? [`${podGroupFile}: ${conf.get(podGroupFile)} does not exist on the submitting machine`]
    : []),
];

const devices: Check = ({ conf }) => wrongResources(conf, "spark.driver");

const spaces: Check = ({ conf }, rules) => [
  ...wrongVolumes(conf, "spark.kubernetes.driver.volumes.", rules),
  ...wrongVolumes(conf, "spark.kubernetes.executor.volumes.", rules),
];

const checks: readonly Check[] = [
  values,
  image,
  labels,
  addresses,
  spaces,
  secretKeys,
  devices,
  together,
  apart,
  files,
  uploads,
  templateFiles,
  customSteps,
];

/** All reasons for a refusal in one text; undefined when there is none. */
export const refusalOf = (request: Request): string | undefined => {
  const rules = clientRules(request);
  const found = checks.flatMap((check) => check(request, rules));
  return found.length === 0 ? undefined : found.join("; ");
};
