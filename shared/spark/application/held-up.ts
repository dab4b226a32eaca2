/** Shows the platform's trouble in `status.applicationState.errorMessage`, where upstream's users look. */
import type { Stored } from "../../core/object.ts";
import { isRecord } from "../../kube/responses.ts";

const prefix = "held up by the platform, which spends no retry: ";

/** Returns the status with the trouble as its message, or undefined: a message of the application's own stays. */
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
