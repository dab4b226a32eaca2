/** Scratch space: the volumes that are named for it, or empty folders; as LocalDirsFeatureStep. */
import type { Conf } from "../conf.ts";
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

/** `folders`: of the environment or the confs, by commas; made new when nothing is mounted yet. */
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
