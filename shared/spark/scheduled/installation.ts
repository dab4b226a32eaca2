/** The rights and the admission of the kind ScheduledSparkApplication. */
import { type KindInstallation, ownObjects, writeStatus, writes } from "../../kube/kind-installation.ts";

export const scheduledSparkApplicationInstallation: KindInstallation = {
  rights: [
    { verbs: ["get", "list", "watch"], for: "watch schedules" },
    writeStatus,
    ownObjects("the objects created for them"),
  ],
  read: ["get", "list"],
  actions: ["patch", "delete"],
  validated: writes,
};
