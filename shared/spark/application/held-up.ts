/** What holds an application up, told where upstream's users look: in the text field of its status. */
import type { Stored } from "../../core/object.ts";
import { isRecord } from "../../kube/responses.ts";

const prefix = "held up by the platform, which spends no retry: ";

/** The status with the word of what holds it up; a message of the application's own stays. */
export const heldUp = (object: Stored, message: string): Readonly<Record<string, unknown>> | undefined => {
  const status = isRecord(object["status"]) ? object["status"] : {};
  const state = isRecord(status["applicationState"]) ? status["applicationState"] : {};
  const told = state["errorMessage"] ?? "";
  if (typeof told !== "string" || (told !== "" && !told.startsWith(prefix))) return undefined;
  return {
    ...status,
    driverInfo: status["driverInfo"] ?? {},
    applicationState: { ...state, state: state["state"] ?? "", errorMessage: `${prefix}${message}` },
  };
};
