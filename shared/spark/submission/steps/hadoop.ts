/** Hadoop's configuration, from an existing ConfigMap or from the submitter's files; as HadoopConfDriverFeatureStep. */
import { withEnv, withVolume } from "../pods/pod.ts";
import type { Context, Contribution } from "./step.ts";

const folder = "/opt/hadoop/conf";

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
        withVolume(pod, { name: "hadoop-properties", configMap }, { name: "hadoop-properties", mountPath: folder }),
        [{ name: "HADOOP_CONF_DIR", value: folder }],
      ),
    confs: { "spark.kubernetes.executor.hadoopConfigMapName": name },
    objects:
      files === undefined
        ? []
        : [{ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, immutable: true, data: files }],
  };
};
