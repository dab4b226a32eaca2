/** spark-submit's flags, each with its field, its conf, or a refusal that says what to do instead. */

type Path = readonly string[];

export type Flag =
  | { readonly flag: string; readonly is: "text" | "number" | "list"; readonly to: Path; readonly says: string }
  | { readonly flag: string; readonly is: "conf"; readonly to: string; readonly says: string }
  | { readonly flag: string; readonly is: "refused"; readonly because: string };

const spec = (...path: Path): Path => ["spec", ...path];

/** In the order of spark-submit's own help. `--master`, `--deploy-mode`, `--name`, `--conf` and `--properties-file` are read by themselves. */
export const flags: readonly Flag[] = [
  { flag: "--class <class>", is: "text", to: spec("mainClass"), says: "the application's main class" },
  { flag: "--jars <list>", is: "list", to: spec("deps", "jars"), says: "jars for driver and executors" },
  { flag: "--packages <list>", is: "list", to: spec("deps", "packages"), says: "Maven coordinates of jars" },
  {
    flag: "--exclude-packages <list>",
    is: "list",
    to: spec("deps", "excludePackages"),
    says: "group:artifact to leave out",
  },
  {
    flag: "--repositories <list>",
    is: "list",
    to: spec("deps", "repositories"),
    says: "where packages are looked for",
  },
  { flag: "--py-files <list>", is: "list", to: spec("deps", "pyFiles"), says: "files for the PYTHONPATH" },
  { flag: "--files <list>", is: "list", to: spec("deps", "files"), says: "files for each executor's folder" },
  { flag: "--archives <list>", is: "list", to: spec("deps", "archives"), says: "archives for each executor's folder" },
  { flag: "--driver-memory <size>", is: "text", to: spec("driver", "memory"), says: "e.g. 1000m, 2g" },
  {
    flag: "--driver-java-options <options>",
    is: "text",
    to: spec("driver", "javaOptions"),
    says: "for the driver's JVM",
  },
  { flag: "--driver-library-path <path>", is: "conf", to: "spark.driver.extraLibraryPath", says: "for the driver" },
  { flag: "--driver-class-path <path>", is: "conf", to: "spark.driver.extraClassPath", says: "for the driver" },
  { flag: "--executor-memory <size>", is: "text", to: spec("executor", "memory"), says: "e.g. 1000m, 2g" },
  { flag: "--proxy-user <name>", is: "text", to: spec("proxyUser"), says: "user to impersonate" },
  { flag: "--driver-cores <number>", is: "number", to: spec("driver", "cores"), says: "cores of the driver" },
  { flag: "--executor-cores <number>", is: "number", to: spec("executor", "cores"), says: "cores of each executor" },
  { flag: "--num-executors <number>", is: "number", to: spec("executor", "instances"), says: "how many executors" },
  {
    flag: "--total-executor-cores <number>",
    is: "refused",
    because: "that is for Spark's own cluster: say --num-executors and --executor-cores",
  },
  {
    flag: "--queue <name>",
    is: "refused",
    because: "that is for YARN: set spec.batchSchedulerOptions.queue in a manifest (see -o yaml)",
  },
  { flag: "--supervise", is: "refused", because: "that is for Spark's own cluster: say --restart OnFailure" },
  {
    flag: "--principal <name>",
    is: "refused",
    because: "a keytab would have to be uploaded: mount it from a Secret, and say --conf spark.kerberos.principal",
  },
  {
    flag: "--keytab <file>",
    is: "refused",
    because: "it would have to be uploaded: mount it from a Secret, and say --conf spark.kerberos.keytab=local:///…",
  },
  { flag: "--kill <id>", is: "refused", because: "say rekindle delete NAMESPACE/NAME" },
  { flag: "--status <id>", is: "refused", because: "say rekindle status NAMESPACE/NAME" },
];

/** Confs that a field expresses, some of which are refused as confs. An empty path drops the conf. */
export const confFields: Readonly<Record<string, Path>> = {
  "spark.app.name": [],
  "spark.master": [],
  "spark.submit.deployMode": [],
  "spark.kubernetes.namespace": ["metadata", "namespace"],
  "spark.kubernetes.container.image": spec("image"),
  "spark.kubernetes.container.image.pullPolicy": spec("imagePullPolicy"),
  "spark.kubernetes.driver.container.image": spec("driver", "image"),
  "spark.kubernetes.executor.container.image": spec("executor", "image"),
  "spark.kubernetes.driver.pod.name": spec("driver", "podName"),
  "spark.kubernetes.driver.master": spec("driver", "kubernetesMaster"),
  "spark.kubernetes.authenticate.driver.serviceAccountName": spec("driver", "serviceAccount"),
  "spark.kubernetes.authenticate.executor.serviceAccountName": spec("executor", "serviceAccount"),
};
