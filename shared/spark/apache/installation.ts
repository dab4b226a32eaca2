/** The rights and the admission of Apache's SparkApplication. */
import { type KindInstallation, ownObjects, writeStatus, writes } from "../../kube/kind-installation.ts";

export const apacheSparkApplicationInstallation: KindInstallation = {
  rights: [
    {
      verbs: ["get", "list", "watch", "delete"],
      for: "watch applications; delete those whose time to live is over",
    },
    { verbs: ["patch"], for: "remove the finalizer of Apache's operator from one under deletion" },
    writeStatus,
    ownObjects("the objects created for them"),
  ],
  read: ["get", "list"],
  actions: ["patch", "delete"],
  validated: writes,
};
