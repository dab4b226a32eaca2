/** The definition of records for a simulator: it serves the resource as `infra/crds` does, and checks no field. */
import { checkpointResource } from "../../adapters/checkpoints/kubernetes.ts";
import type { Obj } from "../../core/object.ts";

const { group, version, plural, kind } = checkpointResource;

export const recordDefinition: Obj = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${plural}.${group}` },
  spec: {
    ...{ group, scope: "Namespaced", names: { plural, kind } },
    versions: [
      {
        ...{ name: version, served: true, storage: true },
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
};
