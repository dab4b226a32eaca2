/** The rights and the admission of the kind CronJob. */
import { type KindInstallation, ownObjects, writeStatus, writes } from "../../kube/kind-installation.ts";

export const cronJobInstallation: KindInstallation = {
  rights: [{ verbs: ["get", "list", "watch"], for: "watch CronJobs" }, writeStatus, ownObjects("their jobs")],
  read: ["get", "list"],
  actions: ["patch", "delete"],
  validated: writes,
};
