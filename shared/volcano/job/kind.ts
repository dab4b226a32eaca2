/** The declaration of the kind Job. */
import type { DeclaredKind } from "../../kube/declared-kind.ts";
import { jobs } from "../schema/resource.ts";

export const job = {
  resource: jobs,
  family: "volcano",
  shortNames: ["vcjob", "vj"],
  alertLabels: ["volcano_job", "label_volcano_sh_job_name"],
  leavesNodes: true,
  commands: { suspend: "AbortJob", resume: "ResumeJob", held: ["Aborting", "Aborted"] },
} as const satisfies DeclaredKind;
