/** Scratch space: the volumes that are named for it, or empty folders; as LocalDirsFeatureStep. */
import { flagOf } from "../conf.ts";
import type { SparkPod } from "../pods/pod.ts";
import { withEnv, withVolume } from "../pods/pod.ts";
import type { Context, Contribution } from "./step.ts";

const prefix = "spark-local-dir-";

/** What is mounted for it already. Spark draws their order by lot; here it is theirs. */
const mountedIn = (pod: SparkPod): readonly string[] =>
  (pod.container.volumeMounts ?? []).flatMap((mount) =>
    `${mount["name"]}`.startsWith(prefix) ? [`${mount["mountPath"]}`] : [],
  );

const withFolders = (pod: SparkPod, folders: readonly string[], inMemory: boolean): SparkPod =>
  folders.reduce((before, mountPath, at) => {
    const name = `${prefix}${at + 1}`;
    return withVolume(before, { name, emptyDir: inMemory ? { medium: "Memory" } : {} }, { name, mountPath });
  }, pod);

export const localDirs = ({ conf, identity, machine }: Context): Contribution => ({
  pod: (pod) => {
    const mounted = mountedIn(pod);
    const folders = (machine.localDirs ?? conf.get("spark.local.dir") ?? identity.localDir).split(",");
    const inMemory = flagOf(conf, "spark.kubernetes.local.dirs.tmpfs");
    const ready = mounted.length === 0 ? withFolders(pod, folders, inMemory) : pod;
    const value = (mounted.length === 0 ? folders : mounted).join(",");
    return withEnv(ready, [{ name: "SPARK_LOCAL_DIRS", value }]);
  },
});
