/** The rights and the admission of the kind SparkApplication. */
import { type KindInstallation, ownObjects, writeStatus, writes } from "../../kube/kind-installation.ts";

export const sparkApplicationInstallation: KindInstallation = {
  rights: [
    {
      verbs: ["get", "list", "watch", "create", "delete"],
      for: "watch applications; create those of schedules, delete those whose time to live is over",
    },
    writeStatus,
    ownObjects("the objects created for them"),
  ],
  read: ["get", "list"],
  actions: ["patch", "delete"],
  validated: writes,
  mutated: writes,
};
