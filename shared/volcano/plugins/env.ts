/** `env`: tells every container its pod's ordinal within its task. */
import { everywhere, withEnv } from "../pods/draft.ts";
import { indexOf, type Plugin } from "./plugin.ts";

export const env: Plugin = {
  flags: {},
  noted: true,
  onPod: (draft) => {
    const value = indexOf(draft);
    const variables = ["VK_TASK_INDEX", "VC_TASK_INDEX"].map((name) => ({ name, value }));
    return withEnv(draft, variables, everywhere);
  },
};
