/** The rights and the admission of the kind Queue. */
import { type KindInstallation, writeStatus, writes } from "../../kube/kind-installation.ts";

export const queueInstallation: KindInstallation = {
  rights: [
    { verbs: ["get", "list", "watch", "create"], for: "watch queues; create root and default" },
    { verbs: ["patch"], for: "set a queue's parent, and mark queues that were closed with their parent" },
    writeStatus,
  ],
  read: ["list"],
  actions: ["get"],
  admissionReads: ["list"],
  validated: [...writes, "DELETE"],
  mutated: ["CREATE"],
};
