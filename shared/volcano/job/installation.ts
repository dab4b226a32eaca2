/** The rights and the admission of the kind Job. */
import { type KindInstallation, ownObjects, writeStatus, writes } from "../../kube/kind-installation.ts";

export const jobInstallation: KindInstallation = {
  rights: [
    { verbs: ["get", "list", "watch", "delete"], for: "watch jobs; delete those whose time to live is over" },
    { verbs: ["create"], for: "create the jobs of CronJobs and JobFlows" },
    { verbs: ["patch"], for: "name the claims that are made for a job" },
    writeStatus,
    ownObjects("the objects created for them"),
  ],
  read: ["get", "list"],
  actions: ["patch", "delete"],
  validated: writes,
  mutated: ["CREATE"],
};
