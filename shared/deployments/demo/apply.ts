/** `kubectl apply --server-side` for the few kinds of the demo's manifests. */
import { parse } from "yaml";
import * as z from "zod";
import type { Transport } from "../../core/http.ts";
import type { Resource, Stored } from "../../core/object.ts";
import { objectPath, withQuery } from "../../kube/paths.ts";
import { namespaces } from "../../kube/resources.ts";
import { storedOf } from "../../kube/responses.ts";
import { applications } from "./observed-cluster.ts";

const manifest = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
});

const resources: readonly Resource[] = [
  applications,
  namespaces,
  { group: "", version: "v1", plural: "serviceaccounts", kind: "ServiceAccount" },
  {
    group: "apiextensions.k8s.io",
    version: "v1",
    plural: "customresourcedefinitions",
    kind: "CustomResourceDefinition",
  },
];

const timeoutMs = 5_000;

/** Applies one YAML document, and returns the stored object. */
export const applyText = async (transport: Transport, text: string): Promise<Stored> => {
  const object = manifest.parse(parse(text));
  const { kind, metadata } = object;
  const resource = resources.find((one) => one.kind === kind);
  if (resource === undefined) throw new Error(`the demo cannot apply a ${kind}`);
  const { name, namespace } = metadata;
  const path = objectPath({ resource, name, ...(namespace === undefined ? {} : { namespace }) });
  const response = await transport.send({
    method: "PATCH",
    path: withQuery(path, { fieldManager: "rekindle-demo" }),
    headers: { "content-type": "application/apply-patch+yaml" },
    body: JSON.stringify(object),
    timeoutMs,
  });
  return storedOf(`apply ${kind} ${name}`, response);
};

/** Returns the log of a pod so far, or the error text of the API server. */
export const logOf = async (transport: Transport, namespace: string, pod: string): Promise<string> => {
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}/log`;
  const { body } = await transport.send({ method: "GET", path, headers: {}, timeoutMs });
  return body;
};
