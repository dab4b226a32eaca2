/** The three objects of a SparkConnect, as upstream creates them: ConfigMap, server pod, Service. */
import { digestOf, fieldsOf } from "../../core/json.ts";
import { apiVersionOf, type Metadata, type Obj, type Stored } from "../../core/object.ts";
import { isRecord, type Json } from "../../kube/responses.ts";
import { pruned } from "../submission/pods/prune.ts";
import { imageIn, type Server, startCommand, templateFile, templateFolder } from "./arguments.ts";
import { configMapName, connectLabel, launchedLabel, serverName, sparkConnects } from "./resource.ts";

type Labels = Readonly<Record<string, string>>;

const container = "spark-kubernetes-driver";
const connectPort = 15_002;
const volume = "spark-configmap-volume";

/** Annotation on the pod with the digest of its spec, which shows a later change. */
export const specAnnotation = "rekindle.dev/spec";

const commonLabels = (name: string): Labels => ({
  "sparkoperator.k8s.io/created-by-spark-operator": "true",
  [connectLabel]: name,
});

const selectorLabels = ({ name, spec }: Server): Labels => ({
  [launchedLabel]: "true",
  [connectLabel]: name,
  "spark-role": "connect-server",
  "spark-version": spec.sparkVersion,
});

const textsAt = (metadata: unknown, field: string): Labels => {
  const found = isRecord(metadata) && isRecord(metadata[field]) ? metadata[field] : {};
  return Object.fromEntries(
    Object.entries(found).filter((pair): pair is [string, string] => typeof pair[1] === "string"),
  );
};

/** Metadata of an object that the SparkConnect controls. */
const controlled = (owner: Stored, name: string, labels: Labels, annotations: Labels = {}): Metadata => ({
  name,
  ...(owner.metadata.namespace === undefined ? {} : { namespace: owner.metadata.namespace }),
  labels,
  ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
  ownerReferences: [
    {
      apiVersion: apiVersionOf(sparkConnects),
      kind: sparkConnects.kind,
      name: owner.metadata.name,
      uid: owner.metadata.uid,
      controller: true,
      blockOwnerDeletion: true,
    },
  ],
});

/** The executors' pod template as a file; JSON is YAML. */
export const configMap = (owner: Stored, { name, spec }: Server): Obj => {
  const { template } = spec.executor;
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: controlled(owner, configMapName(name), commonLabels(name)),
    data: { [templateFile]: `${JSON.stringify(template === undefined ? null : pruned(template))}\n` },
  };
};

const probe = { tcpSocket: { port: connectPort }, periodSeconds: 10, timeoutSeconds: 1 } as const;

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const serving = (given: Json, server: Server, images: Images): Json => ({
  startupProbe: { ...probe, initialDelaySeconds: 5, failureThreshold: 30 },
  readinessProbe: { ...probe, failureThreshold: 3 },
  ...given,
  image: images.server,
  command: ["bash", "-c"],
  args: [startCommand(server, images.executor)],
  env: [
    ...listOf(given["env"]),
    { name: "POD_IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
    { name: "SPARK_NO_DAEMONIZE", value: "true" },
  ],
  volumeMounts: [
    ...listOf(given["volumeMounts"]),
    { name: volume, subPath: templateFile, mountPath: `${templateFolder}/${templateFile}`, readOnly: true },
  ],
  lifecycle: { preStop: { exec: { command: ["bash", "-c", "$SPARK_HOME/sbin/stop-connect-server.sh"] } } },
});

export type Images = { readonly server: string; readonly executor: string };

/** Sets up the container that serves: the one with Spark's name, else the first. */
const withServer = (containers: readonly unknown[], server: Server, images: Images): readonly unknown[] => {
  const all = containers.length === 0 ? [{ name: container }] : containers;
  const named = all.findIndex((one) => isRecord(one) && one["name"] === container);
  return all.map((one, index) => (index === Math.max(0, named) && isRecord(one) ? serving(one, server, images) : one));
};

/** The image of the container that serves. */
export const serverImage = ({ image, server }: Server["spec"]): string | undefined => {
  const spec = isRecord(server.template?.["spec"]) ? server.template["spec"] : {};
  const [first] = listOf(spec["containers"]);
  const name = isRecord(first) && typeof first["name"] === "string" ? first["name"] : container;
  return imageIn(server.template, container) ?? imageIn(server.template, name) ?? (image === "" ? undefined : image);
};

export const serverPod = (owner: Stored, server: Server, images: Images): Obj => {
  const { metadata, spec } = pruned(server.spec.server.template ?? {});
  const given = fieldsOf(spec);
  const labels = { ...textsAt(metadata, "labels"), ...selectorLabels(server) };
  const annotations = { ...textsAt(metadata, "annotations"), [specAnnotation]: digestOf(owner["spec"]).slice(0, 16) };
  const mounted = {
    name: volume,
    configMap: { name: configMapName(server.name), items: [{ key: templateFile, path: templateFile }] },
  };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: controlled(owner, serverName(server.name), labels, annotations),
    spec: {
      ...given,
      containers: withServer(listOf(given["containers"]), server, images),
      volumes: [...listOf(given["volumes"]), mounted],
    },
  };
};

const port = (name: string, number: number, appProtocol: string): Json => ({
  name,
  port: number,
  targetPort: number,
  protocol: "TCP",
  appProtocol,
});

/** The service's name: the user's, else the server's. */
export const serviceName = ({ name, spec }: Server): string => {
  const { metadata } = spec.server.service ?? {};
  const own = isRecord(metadata) ? metadata["name"] : undefined;
  return typeof own === "string" && own !== "" ? own : serverName(name);
};

/** The user's service, with the server's ports and pods. */
export const service = (owner: Stored, server: Server): Obj => {
  const { metadata, spec } = server.spec.server.service ?? {};
  const given = fieldsOf(spec);
  const labels = { ...textsAt(metadata, "labels"), ...commonLabels(server.name) };
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: controlled(owner, serviceName(server), labels, textsAt(metadata, "annotations")),
    spec: {
      ...given,
      ports: [
        port("driver-rpc", 7078, "tcp"),
        port("blockmanager", 7079, "tcp"),
        port("web-ui", 4040, "http"),
        port("spark-connect-server", connectPort, "grpc"),
      ],
      selector: { ...textsAt(given, "selector"), ...selectorLabels(server) },
    },
  };
};
