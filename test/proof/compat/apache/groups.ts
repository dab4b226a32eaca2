/** Turns the recordings and the examples of upstream's operator of `spark.apache.org` into cases. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import type { Case } from "../cases.ts";
import { type Difference, isRecord, type Json } from "../compare.ts";
import { labelOf } from "../golden.ts";
import { judgedOutcome } from "../outcome.ts";
import type { Group } from "../volcano/files.ts";
import { clusterDifferences, clusterFor, clusterStatusDifferences, type Named } from "./cluster.ts";
import { apacheReason } from "./intended.ts";
import { type Application, madeFor, objectDifferences, statusDifferences } from "./objects.ts";

const root = "spark-kubernetes-operator";

const caseOf = (name: string, found: () => readonly Difference[]): Case => ({
  name,
  run: () => judgedOutcome(name, found(), apacheReason),
});

/** The variables of upstream's end-to-end tests, which its manifests name. */
const variables: Readonly<Record<string, string>> = {
  SPARK_APPLICATION_NAME: "spark-job",
  V_SPARK_VERSION: "v4_2_0",
  V_JAVA_VERSION: "Java21",
  SPARK_APP_NAMESPACE: "default",
  IMAGE: "apache/spark:4.2.0",
  JARS: "local:///opt/spark/examples/jars/spark-examples.jar",
};

const withVariables = (text: string): string =>
  text.replaceAll(/\(\$(\w+)\)/g, (whole, name: string) => variables[name] ?? whole);

const documentsIn = (file: string): readonly Json[] =>
  parseAllDocuments(withVariables(readFileSync(file, "utf8")))
    .map((document): unknown => document.toJS())
    .filter(isRecord);

const applicationIn = (object: Json): Application => {
  const metadata = isRecord(object["metadata"]) ? object["metadata"] : {};
  return { name: `${metadata["name"]}`, namespace: `${metadata["namespace"] ?? "default"}`, spec: object["spec"] };
};

/** True for an object to be created; the e2e tests' expected states have no spec. */
const isManifest = (object: Json): boolean =>
  object["kind"] === "SparkApplication" &&
  `${object["apiVersion"]}`.startsWith("spark.apache.org/") &&
  object["spec"] !== undefined;

const exampleOf = (data: string, file: string): Application => {
  const [first] = documentsIn(join(data, root, "examples", file));
  if (first === undefined) throw new Error(`${file} holds no object`);
  return applicationIn(first);
};

/** The application of the recorded Service and Ingress `ui`, which no example has: an Ingress with a class and without rules. */
const withIngress: Omit<Application, "namespace"> = {
  name: "ingress",
  spec: {
    runtimeVersions: { sparkVersion: "4.2.0" },
    jars: "local:///x.jar",
    mainClass: "x",
    sparkConf: { "spark.kubernetes.container.image": "x" },
    driverServiceIngressList: [
      {
        serviceMetadata: { name: "ui" },
        serviceSpec: { ports: [{ port: 80, targetPort: 4040 }] },
        ingressMetadata: { name: "ui" },
        ingressSpec: { ingressClassName: "nginx", tls: [{ secretName: "ui-tls" }] },
      },
    ],
  },
};

const recordedCases = (data: string): readonly Case[] => {
  const pi = exampleOf(data, "pi.yaml");
  const python = exampleOf(data, "pi-python.yaml");
  const rows: readonly (readonly [file: string, app: Omit<Application, "namespace">])[] = [
    ["pod-pi-0-driver.yaml", pi],
    ["configmap-pi-0-spark-drv-conf-map.yaml", pi],
    ["service-pi-0-driver-svc.yaml", pi],
    ["networkpolicy-pi-0-policy.yaml", pi],
    ["pod-pi-python-0-driver.yaml", python],
    ["service-ui.yaml", withIngress],
    ["ingress-ui.yaml", withIngress],
  ];
  return rows.map(([file, app]) => caseOf(`apache/recorded/${file}`, () => objectDifferences(data, file, app)));
};

const statusCases = (data: string): readonly Case[] =>
  globSync(`${root}/recorded/sparkapp*.yaml`, { cwd: data })
    .sort()
    .map((file) => {
      const name = file.replace(`${root}/recorded/`, "");
      return caseOf(`apache/status/${name}`, () => statusDifferences(data, name));
    });

/** The objects that every attempt has, whatever its spec. */
const expectedOf = ({ name, spec }: Application): readonly string[] => {
  const conf = isRecord(spec) && isRecord(spec["sparkConf"]) ? spec["sparkConf"] : {};
  const id = `${conf["spark.app.id"] ?? `${name}-0`}`;
  return [
    `Pod ${conf["spark.kubernetes.driver.pod.name"] ?? `${id}-driver`}`,
    `Service ${id}-driver-svc`,
    `ConfigMap ${id}-spark-drv-conf-map`,
    `NetworkPolicy ${id}-policy`,
  ];
};

/** An application of upstream's is submitted: nothing of what every attempt has is absent. */
const submittedAlike = (app: Application): readonly Difference[] => {
  const made = madeFor(app);
  if ("refused" in made) return [{ path: "refused", ours: made.refused, theirs: "accepted" }];
  const labels = new Set(made.objects.map(labelOf));
  return expectedOf(app)
    .filter((label) => !labels.has(label))
    .map((label) => ({ path: label, ours: undefined, theirs: "made" }));
};

const exampleCases = (data: string): readonly Case[] =>
  globSync([`${root}/examples/**/*.yaml`, `${root}/e2e/**/*.yaml`], { cwd: data })
    .sort()
    .flatMap((file) =>
      documentsIn(join(data, file))
        .filter(isManifest)
        .map((object) => ({ file, object })),
    )
    .map(({ file, object }) => caseOf(file.replace(root, "apache"), () => submittedAlike(applicationIn(object))));

const clusterFiles = ["svc", "sts"].flatMap((kind) => [
  `${kind}-cluster-with-hpa-master`,
  `${kind}-cluster-with-hpa-worker`,
]);

/** The recorded objects of one of upstream's clusters, and its recorded status read and written again. */
const clusterCases = (data: string): readonly Case[] => {
  const cluster = exampleOf(data, "cluster-with-hpa.yaml");
  const services = clusterFiles.map((file) => (file.startsWith("svc") ? `${file}-svc.yaml` : `${file}.yaml`));
  const others = [
    "netpol-cluster-with-hpa-worker",
    "hpa-cluster-with-hpa-worker-hpa",
    "pdb-cluster-with-hpa-worker-pdb",
  ];
  return [
    ...[...services, ...others.map((file) => `${file}.yaml`)].map((file) =>
      caseOf(`apache/cluster/${file}`, () => clusterDifferences(data, file, cluster)),
    ),
    caseOf("apache/cluster/sparkcluster-cluster-with-hpa.yaml", () => clusterStatusDifferences(data)),
  ];
};

const madeAlike = (cluster: Named): readonly Difference[] => {
  const made = clusterFor(cluster);
  return "refused" in made ? [{ path: "refused", ours: made.refused, theirs: "accepted" }] : [];
};

const isCluster = (object: Json): boolean => object["kind"] === "SparkCluster" && object["spec"] !== undefined;

const clusterExamples = (data: string): readonly Case[] =>
  globSync([`${root}/examples/**/*.yaml`, `${root}/e2e/**/*.yaml`], { cwd: data })
    .sort()
    .flatMap((file) =>
      documentsIn(join(data, file))
        .filter(isCluster)
        .map((object) => caseOf(file.replace(root, "apache"), () => madeAlike(applicationIn(object)))),
    );

/** Groups of the family; none without its recordings. */
export const apacheGroups = (data: string): readonly Group[] =>
  existsSync(join(data, root))
    ? [
        { name: "apache/recorded objects", cases: recordedCases(data) },
        { name: "apache/recorded statuses", cases: statusCases(data) },
        { name: "apache/applications of its examples and e2e tests", cases: exampleCases(data) },
        { name: "apache/SparkCluster", cases: [...clusterCases(data), ...clusterExamples(data)] },
      ]
    : [];
