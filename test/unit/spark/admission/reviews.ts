/** Admission requests about Spark's kinds, and their verdicts as short texts. */
import type { AdmissionRequest, Verdict } from "../../../../shared/kube/admission.ts";
import { judgedBy, patchedBy } from "../../../../shared/spark/admission/review.ts";

type Kind = "SparkApplication" | "ScheduledSparkApplication" | "SparkConnect";

export type Fields = Readonly<Record<string, unknown>>;

export const groupKind = (kind: Kind): AdmissionRequest["kind"] => ({
  group: "sparkoperator.k8s.io",
  version: kind === "SparkConnect" ? "v1alpha1" : "v1beta2",
  kind,
});

export const creating = (kind: Kind, spec: unknown, metadata: Fields = { name: "app" }): AdmissionRequest => ({
  uid: "review",
  kind: groupKind(kind),
  namespace: "team",
  operation: "CREATE",
  object: { metadata, spec },
});

/** Returns the verdict as text; "" if the request is allowed without a warning. */
export const saidBy = (verdict: Verdict): string =>
  verdict.allowed ? verdict.warnings.map((text) => `warning: ${text}`).join("\n") : verdict.message;

type Confs = Readonly<Record<string, string>>;

/** `confs`: those of the deployment. */
export const said = (request: AdmissionRequest, confs?: Confs): string => saidBy(judgedBy(request, confs));

export const patchOf = (request: AdmissionRequest, confs?: Confs): readonly unknown[] => {
  const verdict = patchedBy(request, confs);
  return verdict.allowed ? verdict.patch : [];
};

/** A valid spec of a SparkApplication. */
export const good = {
  type: "Scala",
  mode: "cluster",
  sparkVersion: "4.1.1",
  image: "spark:4.1.1",
  mainClass: "org.example.Main",
  mainApplicationFile: "local:///opt/app.jar",
  driver: { cores: 1, memory: "1g" },
  executor: { cores: 1, memory: "1g", instances: 1 },
} as const;
