/** Credentials of a driver: for the API server, for Hadoop and Kerberos, and Secrets as files and variables. */

import type { Obj } from "../../../core/object.ts";
import { below, type Conf, type Texts, withoutEnd } from "../../configuration/conf.ts";
import type { Role } from "../arguments/pod.ts";
import { inSpec, type SparkPod, withEnv, withVolume, withVolumes } from "../pods/pod.ts";
import type { Context, Contribution } from "./step.ts";

const prefix = "spark.kubernetes.authenticate.driver";
const folder = "/mnt/secrets/spark-kubernetes-credentials";
const volumeName = "kubernetes-credentials";
const hidden = "<present_but_redacted>";

/** Credentials in files: the conf that names the file, and its name in the Secret. */
export const credentialFiles = { caCertFile: "ca-cert", clientKeyFile: "client-key", clientCertFile: "client-cert" };

/** Redacts tokens, which are stored in a Secret only. */
const redacted = (conf: Conf): Texts =>
  Object.fromEntries([...conf.keys()].filter((key) => key.endsWith("oauthToken")).map((key) => [key, hidden]));

const base64 = (text: string): string => Buffer.from(text).toString("base64");

type Credential = { readonly name: string; readonly key: string; readonly data: string };

const credentialsOf = ({ conf, machine }: Context): readonly Credential[] => {
  const inFiles = Object.entries(credentialFiles).flatMap(([suffix, name]) => {
    const text = machine.files?.[conf.get(`${prefix}.${suffix}`) ?? ""];
    return text === undefined ? [] : [{ name, key: suffix, data: base64(text) }];
  });
  const token = conf.get(`${prefix}.oauthToken`);
  return token === undefined
    ? inFiles
    : [...inFiles, { name: "oauth-token", key: "oauthTokenFile", data: base64(token) }];
};

const withAccount =
  (account: string | undefined) =>
  (pod: SparkPod): SparkPod =>
    account === undefined ? pod : inSpec(pod, { serviceAccount: account, serviceAccountName: account });

export const credentials = (context: Context): Contribution => {
  const { conf, identity } = context;
  const all = credentialsOf(context);
  const confs = redacted(conf);
  if (all.length === 0) return { pod: withAccount(conf.get(`${prefix}.serviceAccountName`)), confs };
  const name = `${identity.prefix}-kubernetes-credentials`;
  const mounted = all.map(({ name: file, key }) => {
    const at = `${prefix}.mounted.${key}`;
    return [at, conf.get(at) ?? `${folder}/${file}`];
  });
  return {
    pod: (pod) =>
      withVolume(pod, { name: volumeName, secret: { secretName: name } }, { name: volumeName, mountPath: folder }),
    confs: { ...confs, ...Object.fromEntries(mounted) },
    objects: [
      {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name },
        immutable: true,
        data: Object.fromEntries(all.map(({ name: file, data }) => [file, data])),
      },
    ],
  };
};

const hadoopFolder = "/opt/hadoop/conf";

/** Hadoop's configuration, from an existing ConfigMap or from the submitter's files; as HadoopConfDriverFeatureStep. */
export const hadoop = ({ conf, identity, machine }: Context): Contribution => {
  const existing = conf.get("spark.kubernetes.hadoop.configMapName");
  const files = machine.hadoopFiles;
  const name = existing ?? (files === undefined ? undefined : `${identity.prefix}-hadoop-config`);
  if (name === undefined) return {};
  const items = Object.keys(files ?? {}).map((file) => ({ key: file, path: file }));
  const configMap = files === undefined ? { name } : { name, items };
  return {
    pod: (pod) =>
      withEnv(
        withVolume(
          pod,
          { name: "hadoop-properties", configMap },
          { name: "hadoop-properties", mountPath: hadoopFolder },
        ),
        [{ name: "HADOOP_CONF_DIR", value: hadoopFolder }],
      ),
    confs: { "spark.kubernetes.executor.hadoopConfigMapName": name },
    objects:
      files === undefined
        ? []
        : [{ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, immutable: true, data: files }],
  };
};

const tokenFolder = "/mnt/secrets/hadoop-credentials";
const keytabFolder = "/mnt/secrets/kerberos-keytab";

type File = { readonly name: string; readonly text: string };

/** A file of the submitting machine that a conf names. */
const fileAt = ({ conf, machine }: Context, key: string): File | undefined => {
  const path = conf.get(key) ?? "";
  const text = machine.files?.[path];
  return text === undefined ? undefined : { name: path.split("/").at(-1) ?? path, text };
};

const configured = (pod: SparkPod, name: string, file: File | undefined): SparkPod =>
  withVolume(
    pod,
    {
      name: "krb5-file",
      configMap: { name, ...(file === undefined ? {} : { items: [{ key: file.name, path: file.name }] }) },
    },
    { name: "krb5-file", mountPath: "/etc/krb5.conf", subPath: "krb5.conf" },
  );

const withKeytab = (pod: SparkPod, secretName: string): SparkPod =>
  withVolume(
    pod,
    { name: "kerberos-keytab", secret: { secretName } },
    { name: "kerberos-keytab", mountPath: keytabFolder },
  );

const withTokens = (pod: SparkPod, secretName: string, key: string): SparkPod =>
  withEnv(
    withVolume(
      pod,
      { name: "hadoop-secret", secret: { secretName } },
      { name: "hadoop-secret", mountPath: tokenFolder },
    ),
    [{ name: "HADOOP_TOKEN_FILE_LOCATION", value: `${tokenFolder}/${key}` }],
  );

const configMap = (name: string, file: File): Obj => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  immutable: true,
  data: { [file.name]: file.text },
});

const secret = (name: string, file: File): Obj => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name },
  immutable: true,
  data: { [file.name]: Buffer.from(file.text).toString("base64") },
});

/** Mounts a keytab rather than tokens: with a keytab the driver gets its own. */
export const kerberos = (context: Context): Contribution => {
  const { conf, identity } = context;
  const file = fileAt(context, "spark.kubernetes.kerberos.krb5.path");
  const keytab = fileAt(context, "spark.kerberos.keytab");
  const tokens = conf.get("spark.kubernetes.kerberos.tokenSecret.name");
  const key = conf.get("spark.kubernetes.kerberos.tokenSecret.itemKey") ?? "";
  const own = `${identity.prefix}-krb5-file`;
  const map = conf.get("spark.kubernetes.kerberos.krb5.configMapName") ?? (file === undefined ? undefined : own);
  const keytabSecret = `${identity.prefix}-kerberos-keytab`;
  return {
    pod: (pod) => {
      const known = map === undefined ? pod : configured(pod, map, file);
      if (keytab !== undefined) return withKeytab(known, keytabSecret);
      return tokens === undefined ? known : withTokens(known, tokens, key);
    },
    confs: keytab === undefined ? {} : { "spark.kerberos.keytab": `${keytabFolder}/${keytab.name}` },
    objects: [
      ...(file === undefined ? [] : [configMap(own, file)]),
      ...(keytab === undefined ? [] : [secret(keytabSecret, keytab)]),
    ],
  };
};

/** Splits a reference `name:key` as Java does, without empty parts at the end. */
export const partsOf = (reference: string): readonly string[] => withoutEnd(reference, ":").split(":");

export const secretsOf = (conf: Conf, role: Role): Contribution => ({
  pod: (pod) =>
    withVolumes(
      pod,
      Object.entries(below(conf, `spark.kubernetes.${role}.secrets.`)).map(([secretName, mountPath]) => {
        const name = `${secretName}-volume`;
        return { volume: { name, secret: { secretName } }, mount: { name, mountPath } };
      }),
    ),
});

export const secretEnvOf = (conf: Conf, role: Role): Contribution => ({
  pod: (pod) =>
    withEnv(
      pod,
      Object.entries(below(conf, `spark.kubernetes.${role}.secretKeyRef.`)).map(([name, reference]) => {
        const [secret = "", key = ""] = partsOf(reference);
        return { name, valueFrom: { secretKeyRef: { name: secret, key } } };
      }),
    ),
});

export const secrets = ({ conf }: Context): Contribution => secretsOf(conf, "driver");

export const secretEnv = ({ conf }: Context): Contribution => secretEnvOf(conf, "driver");
