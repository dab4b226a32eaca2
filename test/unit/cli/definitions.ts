/** CustomResourceDefinitions without a schema, for kinds whose schema a test does not need. */
import type { Obj } from "../../../shared/core/object.ts";

type Named = { readonly kind: string; readonly plural: string; readonly version: string };

export const scheduledKind: Named = {
  ...{ kind: "ScheduledSparkApplication", plural: "scheduledsparkapplications", version: "v1beta2" },
};
export const connectKind: Named = { kind: "SparkConnect", plural: "sparkconnects", version: "v1alpha1" };

/** Returns a definition that keeps unknown fields. */
export const crdOf = ({ kind, plural, version }: Named): Obj => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${plural}.sparkoperator.k8s.io` },
  spec: {
    group: "sparkoperator.k8s.io",
    scope: "Namespaced",
    names: { plural, kind, listKind: `${kind}List`, singular: kind.toLowerCase() },
    versions: [
      {
        ...{ name: version, served: true, storage: true, subresources: { status: {} } },
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
});
