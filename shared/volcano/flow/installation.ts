/** The rights and the admission of the kind JobFlow. */
import { type KindInstallation, ownObjects, writeStatus, writes } from "../../kube/kind-installation.ts";

export const jobFlowInstallation: KindInstallation = {
  rights: [{ verbs: ["get", "list", "watch"], for: "watch JobFlows" }, writeStatus, ownObjects("their jobs")],
  read: ["get", "list"],
  actions: ["patch", "delete"],
  validated: writes,
};
