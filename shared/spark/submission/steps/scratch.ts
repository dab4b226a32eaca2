/** Scratch space: the volumes that are named for it, or emptyDirs; as LocalDirsFeatureStep. */
import type { Conf } from "../../configuration/conf.ts";
import { flagOf } from "../../configuration/conf.ts";
import type { SparkPod } from "../pods/pod.ts";
import { withEnv, withVolume } from "../pods/pod.ts";
import type { Context, Contribution } from "./step.ts";

const prefix = "spark-local-dir-";

/** The scratch volumes that are mounted already, in their order; Spark's order is random. */
const mountedIn = (pod: SparkPod): readonly string[] =>
  (pod.container.volumeMounts ?? []).flatMap((mount) =>
    `${mount["name"]}`.startsWith(prefix) ? [`${mount["mountPath"]}`] : [],
  );

const withFolders = (pod: SparkPod, folders: readonly string[], inMemory: boolean): SparkPod =>
  folders.reduce((before, mountPath, at) => {
    const name = `${prefix}${at + 1}`;
    return withVolume(before, { name, emptyDir: inMemory ? { medium: "Memory" } : {} }, { name, mountPath });
  }, pod);

/** Adds scratch space. `folders`: comma-separated paths, which get volumes when none is mounted. */
export const scratchOf = (conf: Conf, folders: string): Contribution => ({
  pod: (pod) => {
    const mounted = mountedIn(pod);
    const inMemory = flagOf(conf, "spark.kubernetes.local.dirs.tmpfs");
    const ready = mounted.length === 0 ? withFolders(pod, folders.split(","), inMemory) : pod;
    const value = mounted.length === 0 ? folders : mounted.join(",");
    return withEnv(ready, [{ name: "SPARK_LOCAL_DIRS", value }]);
  },
});

export const localDirs = ({ conf, identity, machine }: Context): Contribution =>
  scratchOf(conf, machine.localDirs ?? conf.get("spark.local.dir") ?? identity.localDir);
