/** Admission of SparkConnects, by the rules of the reconcile, which are upstream's. */
import type { AdmittedObject, Judgement, Named } from "../../kube/admission.ts";
import { readConnectSpec } from "../connect/read.ts";

export const judgedConnect = (object: AdmittedObject, named: Named): Judgement => {
  const read = readConnectSpec({ ...object, metadata: named });
  return { broken: read.ok ? [] : [read.message], warnings: [] };
};
