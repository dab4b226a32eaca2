/** `rekindle pause` and `resume`: the annotation that keeps every step away from an application. */
import { mergeObject } from "../adapters/kubernetes/requests.ts";
import { ApiError } from "../core/errors.ts";
import { Refused } from "./failure.ts";
import type { Target } from "./target.ts";
import type { Session } from "./tools.ts";

const annotation = "rekindle.dev/paused";

/** Sets or removes the annotation; gives the line that says what that means. */
export const setPaused = async (session: Session, { kind, key }: Target, paused: boolean): Promise<string> => {
  const { namespace, name } = key;
  const target = { ref: { resource: kind.resource, namespace, name } };
  const change = { metadata: { annotations: { [annotation]: paused ? "true" : null } } };
  try {
    await mergeObject(session.transport, target, change);
  } catch (cause) {
    const gone = cause instanceof ApiError && cause.status === 404 && !cause.message.includes("does not serve");
    throw gone ? new Refused(`there is no ${kind.resource.kind} ${namespace}/${name}`) : cause;
  }
  return paused
    ? `${namespace}/${name} is paused: its pods go on, nothing is created, deleted or counted until rekindle resume`
    : `${namespace}/${name} goes on`;
};
