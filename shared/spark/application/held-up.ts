/** Shows the platform's trouble in `status.applicationState.errorMessage`, where upstream's users look. */
import { fieldsOf } from "../../core/json.ts";
import type { Stored } from "../../core/object.ts";

const prefix = "held up by the platform, which spends no retry: ";

/** Returns the status with the trouble as its message, or undefined: a message of the application's own stays. */
export const heldUp = (object: Stored, message: string): Readonly<Record<string, unknown>> | undefined => {
  const status = fieldsOf(object["status"]);
  const state = fieldsOf(status["applicationState"]);
  const shown = state["errorMessage"] ?? "";
  if (typeof shown !== "string" || (shown !== "" && !shown.startsWith(prefix))) return undefined;
  return {
    ...status,
    driverInfo: status["driverInfo"] ?? {},
    applicationState: { ...state, state: state["state"] ?? "", errorMessage: `${prefix}${message}` },
  };
};
