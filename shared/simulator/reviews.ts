/** Questions about rights and identity: here everybody may do everything. */
import type { Ask, Result } from "./call.ts";
import { fieldsAt, isFields, parsed } from "./json.ts";

const rules = [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }];
const everything = [{ nonResourceURLs: ["*"], verbs: ["*"] }];

const statuses: Readonly<Record<string, unknown>> = {
  "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews": { allowed: true },
  "/apis/authorization.k8s.io/v1/subjectaccessreviews": { allowed: true },
  "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews": {
    resourceRules: rules,
    nonResourceRules: everything,
    incomplete: false,
  },
  "/apis/authentication.k8s.io/v1/selfsubjectreviews": {
    userInfo: { username: "simulator", groups: ["system:masters", "system:authenticated"] },
  },
  "/apis/authentication.k8s.io/v1/tokenreviews": {
    authenticated: true,
    user: { username: "simulator", groups: ["system:masters", "system:authenticated"] },
  },
};

/** The answer to a review; undefined when the request is none. */
export const review = ({ method, body }: Ask, path: string): Result | undefined => {
  if (method !== "POST" || !Object.hasOwn(statuses, path)) return undefined;
  const asked = parsed(body ?? "");
  const text = JSON.stringify({
    ...(isFields(asked) ? asked : {}),
    metadata: fieldsAt(asked, "metadata"),
    status: statuses[path],
  });
  return { status: 201, text };
};
