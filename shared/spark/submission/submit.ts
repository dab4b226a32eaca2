/** A SparkApplication becomes the objects of one attempt: what to create before the driver pod, and the driver pod. */
import type { Obj } from "../../core/object.ts";
import type { SparkApplicationSpec } from "../schema/application.ts";

export type SubmissionInput = {
  readonly app: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: SparkApplicationSpec;
  /** Numbers the drivers of one application from 1; the same attempt gives the same objects. */
  readonly attempt: number;
  /** Epoch ms, as `spark.app.submitTime` carries it. */
  readonly submittedAt: number;
  /** The API server as the driver reaches it: `https://kubernetes.default.svc`. */
  readonly apiServer: string;
};

export type Submission = {
  readonly submissionId: string;
  readonly applicationId: string;
  readonly driverPodName: string;
  /** Config maps, secrets, claims and the driver's service: the kubelet is to find them when the driver pod comes. */
  readonly before: readonly Obj[];
  readonly driver: Obj;
  /** What was understood differently from how it was written, for people. */
  readonly notes: readonly string[];
};

export type SubmissionResult = Submission | { readonly refused: string };

/** Pure: the same input, the same objects. */
export const submit = (input: SubmissionInput): SubmissionResult => ({
  refused: `submission of ${input.app.name} is not built yet`,
});
