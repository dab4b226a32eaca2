/** The rights and the admission of the kind SparkConnect. */
import { type KindInstallation, ownObjects, writeStatus, writes } from "../../kube/kind-installation.ts";

export const sparkConnectInstallation: KindInstallation = {
  rights: [
    {
      verbs: ["get", "list", "watch", "delete"],
      for: "watch Connect servers, and delete those that nobody uses, on demand",
    },
    writeStatus,
    ownObjects("the objects created for them"),
  ],
  read: ["get", "list"],
  actions: ["patch", "delete"],
  validated: writes,
};
