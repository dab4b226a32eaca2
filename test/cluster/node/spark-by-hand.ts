/** The objects of one real SparkPi submission, as spark-submit would leave them, for trying a cluster without any operator. */

export type Submission = {
  readonly name: string;
  readonly version: string;
  readonly executors: number;
  readonly slices: number;
  readonly python?: boolean;
};

type Made = { readonly kind: string; readonly path: string; readonly body: object };

const account = "spark-by-hand";
const core = "/api/v1/namespaces/default";
const rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
const rules = [
  { apiGroups: [""], resources: ["pods", "services", "configmaps", "persistentvolumeclaims"], verbs: ["*"] },
];

/** What every driver needs to make its executors; made once. */
export const accountObjects = (): readonly Made[] => [
  { kind: "ServiceAccount", path: `${core}/serviceaccounts`, body: { metadata: { name: account } } },
  { kind: "Role", path: `${rbac}/roles`, body: { metadata: { name: account }, rules } },
  {
    kind: "RoleBinding",
    path: `${rbac}/rolebindings`,
    body: {
      metadata: { name: account },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: account },
      subjects: [{ kind: "ServiceAccount", name: account, namespace: "default" }],
    },
  },
];

const home = "/opt/spark";
const jar = `local://${home}/examples/jars/spark-examples.jar`;
const pi = `local://${home}/examples/src/main/python/pi.py`;

const propertiesOf = ({ name, version, executors, python }: Submission): string =>
  Object.entries({
    "spark.master": "k8s://https://kubernetes.default.svc",
    "spark.submit.deployMode": "cluster",
    "spark.kubernetes.submitInDriver": "true",
    "spark.app.name": name,
    "spark.app.id": `spark-${name}`,
    "spark.driver.host": `${name}-svc.default.svc`,
    "spark.driver.port": "7078",
    "spark.driver.blockManager.port": "7079",
    "spark.driver.memory": "512m",
    "spark.executor.memory": "512m",
    "spark.executor.cores": "1",
    "spark.executor.instances": String(executors),
    "spark.kubernetes.namespace": "default",
    "spark.kubernetes.driver.pod.name": `${name}-driver`,
    "spark.kubernetes.executor.podNamePrefix": name,
    "spark.kubernetes.container.image": `docker.io/apache/spark:${version}`,
    "spark.kubernetes.authenticate.driver.serviceAccountName": account,
    "spark.kubernetes.resource.type": python ? "python" : "java",
    ...(python ? {} : { "spark.jars": jar }),
  })
    .map(([key, value]) => `${key}=${value.replaceAll(":", "\\:")}\n`)
    .join("");

const driverOf = ({ name, version, slices, python }: Submission): object => {
  const program = python
    ? ["--class", "org.apache.spark.deploy.PythonRunner", pi]
    : ["--class", "org.apache.spark.examples.SparkPi", jar];
  const ports = { "driver-rpc-port": 7078, blockmanager: 7079, "spark-ui": 4040 };
  return {
    restartPolicy: "Never",
    serviceAccountName: account,
    containers: [
      {
        name: "spark-kubernetes-driver",
        image: `docker.io/apache/spark:${version}`,
        args: ["driver", "--properties-file", `${home}/conf/spark.properties`, ...program, String(slices)],
        env: [
          { name: "SPARK_USER", value: "root" },
          { name: "SPARK_APPLICATION_ID", value: `spark-${name}` },
          { name: "SPARK_DRIVER_BIND_ADDRESS", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
          { name: "SPARK_LOCAL_DIRS", value: "/var/data/local" },
          { name: "SPARK_CONF_DIR", value: `${home}/conf` },
        ],
        ports: Object.entries(ports).map(([port, containerPort]) => ({ name: port, containerPort })),
        resources: { limits: { memory: "896Mi" }, requests: { cpu: "1", memory: "896Mi" } },
        volumeMounts: [
          { name: "conf", mountPath: `${home}/conf` },
          { name: "local", mountPath: "/var/data/local" },
        ],
      },
    ],
    volumes: [
      { name: "conf", configMap: { name: `${name}-conf` } },
      { name: "local", emptyDir: {} },
    ],
  };
};

/** In the order of a submission: the pod first, what it mounts last. */
export const sparkObjects = (submission: Submission): readonly Made[] => {
  const { name } = submission;
  const labels = { "spark-app-selector": `spark-${name}`, "spark-role": "driver" };
  const ports = [7078, 7079, 4040].map((port) => ({ name: `p${port}`, port }));
  const spec = { clusterIP: "None", selector: labels, ports };
  const data = { "spark.properties": propertiesOf(submission), "spark.kubernetes.namespace": "default" };
  return [
    {
      kind: "Pod",
      path: `${core}/pods`,
      body: { metadata: { name: `${name}-driver`, labels }, spec: driverOf(submission) },
    },
    { kind: "Service", path: `${core}/services`, body: { metadata: { name: `${name}-svc` }, spec } },
    { kind: "ConfigMap", path: `${core}/configmaps`, body: { metadata: { name: `${name}-conf` }, data } },
  ];
};
