/** The rights and the admission of the kind JobTemplate. */
import { type KindInstallation, writeStatus, writes } from "../../kube/kind-installation.ts";

export const jobTemplateInstallation: KindInstallation = {
  rights: [{ verbs: ["get", "list", "watch"], for: "watch JobTemplates" }, writeStatus],
  validated: writes,
};
