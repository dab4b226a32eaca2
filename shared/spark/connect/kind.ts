/** The declaration of the kind SparkConnect. */
import type { DeclaredKind } from "../../kube/declared-kind.ts";
import { sparkConnects } from "../schema/resource.ts";

export const sparkConnect = {
  resource: sparkConnects,
  family: "spark",
  shortNames: ["sparkconn"],
  title: "Spark Connect",
  alertLabels: ["sparkconnect"],
} as const satisfies DeclaredKind;
