/** Admission by quota: a SparkApplication that does not fit is refused before its pods are. */
import { type AdmissionRequest, type AdmittedObject, isSameSpec, type Verdict } from "../../kube/admission.ts";
import { isRecord } from "../../kube/responses.ts";
import { exceeded, type Requests, requestsOf } from "../quota.ts";
import { specSchema } from "../schema/application.ts";

const asked = (object: AdmittedObject | null | undefined): Requests => {
  const parsed = specSchema.safeParse(object?.["spec"]);
  return parsed.success ? requestsOf(parsed.data) : {};
};

/** True of a run that the quota counts already. */
const runs = (object: AdmittedObject | null | undefined): boolean => {
  const status = object?.["status"];
  const state = isRecord(status) && isRecord(status["applicationState"]) ? status["applicationState"]["state"] : "";
  return state === "SUBMITTED" || state === "RUNNING";
};

const increase = ({ object, oldObject }: AdmissionRequest): Requests => {
  const before = runs(oldObject) ? asked(oldObject) : {};
  return Object.fromEntries(
    Object.entries(asked(object)).map(([name, amount]) => [name, amount - (before[name] ?? 0)]),
  );
};

/** True when the request needs a read of the quotas. */
export const isCounted = (request: AdmissionRequest): boolean =>
  request.kind.kind === "SparkApplication" && ["CREATE", "UPDATE"].includes(request.operation) && !isSameSpec(request);

/** The verdict after the namespace's quotas: a refusal stays one. */
export const withinQuotas = (quotas: readonly unknown[], request: AdmissionRequest, verdict: Verdict): Verdict => {
  if (!verdict.allowed) return verdict;
  const excess = exceeded(increase(request), quotas);
  return excess.length === 0 ? verdict : { allowed: false, message: excess.join("; ") };
};
