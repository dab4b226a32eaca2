/** The rights and the admission of Apache's SparkCluster. */
import { type KindInstallation, ownObjects, writeStatus, writes } from "../../kube/kind-installation.ts";

export const sparkClusterInstallation: KindInstallation = {
  rights: [
    { verbs: ["get", "list", "watch"], for: "watch clusters" },
    { verbs: ["patch"], for: "remove the finalizer of Apache's operator from one under deletion" },
    writeStatus,
    ownObjects("the objects created for them"),
  ],
  read: ["get", "list"],
  actions: ["patch", "delete"],
  validated: writes,
};
