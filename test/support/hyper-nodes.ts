/** HyperNodes for tests, and their definition, which Rekindle does not ship. */

const group = "topology.volcano.sh";

export const hyperNodesPath = `/apis/${group}/v1alpha1/hypernodes`;

export const definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

export const hyperNodeDefinition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `hypernodes.${group}` },
  spec: {
    ...{ group, scope: "Cluster" },
    names: { plural: "hypernodes", kind: "HyperNode", singular: "hypernode", listKind: "HyperNodeList" },
    versions: [
      {
        ...{ name: "v1alpha1", served: true, storage: true },
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
};

export const hyperNodeOf = (name: string, tier: number, members: readonly object[]): object => ({
  ...{ apiVersion: `${group}/v1alpha1`, kind: "HyperNode" },
  metadata: { name },
  spec: { tier, members },
});

/** Members of one type by their names. */
export const membersOf = (type: "Node" | "HyperNode", names: readonly string[]): readonly object[] =>
  names.map((name) => ({ type, selector: { exactMatch: { name } } }));
