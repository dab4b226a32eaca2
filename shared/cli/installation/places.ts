/** The namespaces of webhooks and policies, as the API server selects them. */
import { type Expression, expressionsOf } from "../../kube/selector.ts";

export type Places = {
  /** Names; empty with an empty selector: everywhere. */
  readonly namespaces: readonly string[];
  /** Label selector of further namespaces. */
  readonly namespaceSelector?: string | undefined;
};

/** One selector cannot express "these names or these labels": then all namespaces match, and the webhook filters. */
export const expressionsFor = ({ namespaces, namespaceSelector = "" }: Places): readonly Expression[] => {
  if (namespaceSelector === "")
    return namespaces.length === 0 ? [] : [{ key: "kubernetes.io/metadata.name", operator: "In", values: namespaces }];
  return namespaces.length === 0 ? expressionsOf(namespaceSelector) : [];
};
