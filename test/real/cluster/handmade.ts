/** One Spark driver, posted by hand as a submission client would: proves that real Spark runs here without Rekindle. */
import * as z from "zod";
import type { Api, Reply } from "./api.ts";

export type Application = {
  readonly namespace: string;
  readonly name: string;
  readonly sparkVersion: string;
  readonly slices: number;
  readonly executors: number;
  /** "java" by default. */
  readonly language?: "java" | "python";
};

/** The programs, as the driver's arguments name them. Each prints "Pi is roughly". */
const programs = {
  java: ["org.apache.spark.examples.SparkPi", "local:///opt/spark/examples/jars/spark-examples.jar"],
  python: ["org.apache.spark.deploy.PythonRunner", "local:///opt/spark/examples/src/main/python/pi.py"],
} as const;

const account = "spark";

const created = z.object({ metadata: z.object({ uid: z.string() }) });

const made = (reply: Reply): Reply => {
  if (reply.status === 201 || reply.status === 409) return reply;
  throw new Error(`not created: ${JSON.stringify(reply)}`);
};

/** Grants a driver its rights in the namespace: creating executors and deleting its own objects. */
export const allowSpark = async (api: Api, namespace: string): Promise<void> => {
  const core = `/api/v1/namespaces/${namespace}`;
  const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
  const resources = ["pods", "configmaps", "services", "persistentvolumeclaims"];
  const verbs = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];
  const metadata = { name: account };
  made(await api.call("POST", `${core}/serviceaccounts`, { metadata }));
  made(await api.call("POST", `${rbac}/roles`, { metadata, rules: [{ apiGroups: [""], resources, verbs }] }));
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: account };
  const subjects = [{ kind: "ServiceAccount", name: account, namespace }];
  made(await api.call("POST", `${rbac}/rolebindings`, { metadata, roleRef, subjects }));
};

const labelsOf = (app: Application): Record<string, string> => ({
  "spark-app-selector": `spark-${app.name}`,
  "spark-app-name": app.name,
  "spark-role": "driver",
  "spark-version": app.sparkVersion,
});

const driverPod = (app: Application): unknown => ({
  metadata: { name: `${app.name}-driver`, labels: labelsOf(app) },
  spec: {
    serviceAccountName: account,
    restartPolicy: "Never",
    containers: [
      {
        name: "spark-kubernetes-driver",
        image: `docker.io/apache/spark:${app.sparkVersion}`,
        args: [
          "driver",
          "--properties-file",
          "/opt/spark/conf/spark.properties",
          "--class",
          ...programs[app.language ?? "java"],
          String(app.slices),
        ],
        env: [
          { name: "SPARK_USER", value: "root" },
          { name: "SPARK_APPLICATION_ID", value: `spark-${app.name}` },
          {
            name: "SPARK_DRIVER_BIND_ADDRESS",
            valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "status.podIP" } },
          },
          { name: "SPARK_LOCAL_DIRS", value: "/var/data/spark" },
          { name: "SPARK_CONF_DIR", value: "/opt/spark/conf" },
        ],
        ports: [
          { containerPort: 7078, name: "driver-rpc-port" },
          { containerPort: 7079, name: "blockmanager" },
          { containerPort: 4040, name: "spark-ui" },
        ],
        resources: { requests: { cpu: "100m", memory: "896Mi" }, limits: { memory: "896Mi" } },
        volumeMounts: [
          { mountPath: "/var/data/spark", name: "spark-local-dir-1" },
          { mountPath: "/opt/spark/conf", name: "spark-conf-volume-driver" },
        ],
      },
    ],
    volumes: [
      { name: "spark-local-dir-1", emptyDir: {} },
      { name: "spark-conf-volume-driver", configMap: { name: `${app.name}-conf-map` } },
    ],
  },
});

const properties = (app: Application): string =>
  Object.entries({
    "spark.app.id": `spark-${app.name}`,
    "spark.app.name": app.name,
    "spark.master": "k8s://https://kubernetes.default.svc",
    "spark.submit.deployMode": "cluster",
    "spark.kubernetes.submitInDriver": "true",
    "spark.kubernetes.namespace": app.namespace,
    "spark.kubernetes.container.image": `docker.io/apache/spark:${app.sparkVersion}`,
    "spark.kubernetes.driver.pod.name": `${app.name}-driver`,
    "spark.kubernetes.authenticate.driver.serviceAccountName": account,
    "spark.kubernetes.executor.request.cores": "100m",
    "spark.driver.host": `${app.name}-driver-svc.${app.namespace}.svc`,
    "spark.driver.port": "7078",
    "spark.driver.blockManager.port": "7079",
    "spark.driver.memory": "512m",
    "spark.executor.memory": "512m",
    "spark.executor.instances": String(app.executors),
    "spark.kubernetes.resource.type": app.language ?? "java",
    ...(app.language === "python" ? {} : { "spark.jars": programs.java[1] }),
  })
    .map((pair) => pair.join("="))
    .join("\n");

/** Posts the driver pod first, as the real client does, and then the objects that it mounts, with the pod as owner. */
export const postDriver = async (api: Api, app: Application): Promise<void> => {
  const core = `/api/v1/namespaces/${app.namespace}`;
  const { uid } = created.parse(made(await api.call("POST", `${core}/pods`, driverPod(app))).body).metadata;
  const ownerReferences = [{ apiVersion: "v1", kind: "Pod", name: `${app.name}-driver`, uid, controller: true }];
  const ports = [
    { name: "driver-rpc-port", port: 7078 },
    { name: "blockmanager", port: 7079 },
    { name: "spark-ui", port: 4040 },
  ];
  made(
    await api.call("POST", `${core}/services`, {
      metadata: { name: `${app.name}-driver-svc`, ownerReferences },
      spec: { clusterIP: "None", selector: labelsOf(app), ports },
    }),
  );
  made(
    await api.call("POST", `${core}/configmaps`, {
      metadata: { name: `${app.name}-conf-map`, ownerReferences },
      immutable: true,
      data: { "spark.properties": properties(app), "spark.kubernetes.namespace": app.namespace },
    }),
  );
};
