/** The kinds that admission knows, with their defaults and checks. Pure: a repeat or a dry run makes no difference. */
import { isTooMuch } from "../../core/json.ts";
import {
  type AdmissionRequest,
  type AdmittedObject,
  isSameSpec,
  type Judgement,
  type Named,
  namedAs,
  type PatchOperation,
  pass,
  type Verdict,
  verdictOf,
} from "../../kube/admission.ts";
import type { LimitsSaying } from "../../kube/limits.ts";
import { applicationLimits, connectLimits, scheduleLimits } from "../schema/limits.ts";
import { applicationDefaults, judgedApplication } from "./application.ts";
import { judgedConnect } from "./connect.ts";
import { podLimits } from "./pod.ts";
import { judgedSchedule } from "./schedule.ts";

type Known = {
  /** Absent: the object has no limits. */
  readonly limits?: LimitsSaying;
  readonly patched?: (object: AdmittedObject) => readonly PatchOperation[];
  readonly judged?: (object: AdmittedObject, named: Named) => Judgement;
};

/** group/kind → its admission. Upstream has no defaults for schedules and SparkConnects. */
const known: Readonly<Record<string, Known>> = {
  "sparkoperator.k8s.io/SparkApplication": {
    limits: applicationLimits,
    patched: applicationDefaults,
    judged: judgedApplication,
  },
  "sparkoperator.k8s.io/ScheduledSparkApplication": { limits: scheduleLimits, judged: judgedSchedule },
  "sparkoperator.k8s.io/SparkConnect": { limits: connectLimits, judged: judgedConnect },
  "/Pod": { patched: podLimits },
};

const knownOf = ({ kind, operation }: AdmissionRequest): Known => {
  const name = `${kind.group}/${kind.kind}`;
  const writes = operation === "CREATE" || operation === "UPDATE";
  return writes && Object.hasOwn(known, name) ? (known[name] ?? {}) : {};
};

/** Writes the defaults of fields that are absent. */
export const patchedBy = (request: AdmissionRequest): Verdict => {
  const { patched } = knownOf(request);
  const { object } = request;
  return patched === undefined || !object || isTooMuch(object["spec"]) ? pass : { ...pass, patch: patched(object) };
};

/** Refuses an object that could not run. */
export const judgedBy = (request: AdmissionRequest): Verdict => {
  const { judged, limits } = knownOf(request);
  const { object } = request;
  if (judged === undefined || !object || isSameSpec(request)) return pass;
  const beyond = limits?.(object["spec"]) ?? "";
  if (beyond !== "") return { allowed: false, message: beyond };
  return verdictOf(judged(object, namedAs(object, request)));
};
