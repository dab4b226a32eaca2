/** Which kinds admission knows, and what it does for each: pure, so that asking twice or in a dry run makes no difference. */
import { isTooMuch, same } from "../../core/json.ts";
import type { AdmissionRequest, AdmittedObject, PatchOperation, Verdict } from "../../kube/admission.ts";
import { tooMuch } from "../schema/parse.ts";
import { applicationDefaults, judgedApplication } from "./application.ts";
import { judgedConnect } from "./connect.ts";
import type { Judgement, Named } from "./judgement.ts";
import { podLimits } from "./pod.ts";
import { judgedSchedule } from "./schedule.ts";

type Known = {
  readonly patched?: (object: AdmittedObject) => readonly PatchOperation[];
  readonly judged?: (object: AdmittedObject, named: Named) => Judgement;
};

/** group/kind → what is done about it. Upstream has no defaults for the last two. */
const known: Readonly<Record<string, Known>> = {
  "sparkoperator.k8s.io/SparkApplication": { patched: applicationDefaults, judged: judgedApplication },
  "sparkoperator.k8s.io/ScheduledSparkApplication": { judged: judgedSchedule },
  "sparkoperator.k8s.io/SparkConnect": { judged: judgedConnect },
  "/Pod": { patched: podLimits },
};

const pass: Verdict = { allowed: true, patch: [], warnings: [] };

const knownOf = ({ kind, operation }: AdmissionRequest): Known => {
  const name = `${kind.group}/${kind.kind}`;
  const writes = operation === "CREATE" || operation === "UPDATE";
  return writes && Object.hasOwn(known, name) ? (known[name] ?? {}) : {};
};

/** Writes what belongs to the object and its writer left out. */
export const patchedBy = (request: AdmissionRequest): Verdict => {
  const { patched } = knownOf(request);
  const { object } = request;
  return patched === undefined || !object || isTooMuch(object["spec"]) ? pass : { ...pass, patch: patched(object) };
};

/** The API server makes a name of the first 58 characters and 5 of its own. */
const generated = (base: string): string => `${base.slice(0, 58)}xxxxx`;

const namedAs = ({ metadata }: AdmittedObject, { namespace }: AdmissionRequest): Named => ({
  name: metadata.name ?? generated(metadata.generateName ?? ""),
  namespace: metadata.namespace ?? namespace ?? "default",
});

/** True when an update leaves the spec as it is: labels of a bad object may be mended, and it may be deleted. */
export const isSameSpec = ({ operation, object, oldObject }: AdmissionRequest): boolean =>
  operation === "UPDATE" &&
  ![object, oldObject].some((one) => isTooMuch(one?.["spec"])) &&
  same(object?.["spec"], oldObject?.["spec"]);

/** Refuses what could not run. */
export const judgedBy = (request: AdmissionRequest): Verdict => {
  const { judged } = knownOf(request);
  const { object } = request;
  if (judged === undefined || !object || isSameSpec(request)) return pass;
  if (isTooMuch(object["spec"])) return { allowed: false, message: tooMuch };
  const { broken, warnings } = judged(object, namedAs(object, request));
  return broken.length > 0 ? { allowed: false, message: broken.join("; ") } : { ...pass, warnings };
};
