/** The namespaces that something is to hold in, as the API server selects them. */
import { type Expression, expressionsOf } from "../../kube/selector.ts";

export type Places = {
  /** Names; empty with an empty selector: everywhere. */
  readonly namespaces: readonly string[];
  /** Label selector of namespaces that are meant besides. */
  readonly namespaceSelector?: string | undefined;
};

/** Names and labels together cannot be said in one selector: then everywhere, and whoever answers tells them apart. */
export const expressionsFor = ({ namespaces, namespaceSelector = "" }: Places): readonly Expression[] => {
  if (namespaceSelector === "")
    return namespaces.length === 0 ? [] : [{ key: "kubernetes.io/metadata.name", operator: "In", values: namespaces }];
  return namespaces.length === 0 ? expressionsOf(namespaceSelector) : [];
};
