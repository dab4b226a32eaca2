/**
 * The ways to sign in to the page, from the settings: callers of the HTTP API, and an identity provider. Nothing is
 * connected here, and the code of a provider is loaded with the page.
 */
import type { Groups } from "../../api/groups.ts";
import type { Report } from "../../engine/ports.ts";
import type { Family } from "../../kube/resources.ts";
import type { Settings } from "../settings/table.ts";
import { openOptional, type Secret } from "./secret.ts";

/** The settings of an identity provider. */
export type ProviderSettings = {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: Secret;
  readonly scopes: readonly string[];
  readonly groupsClaim: string;
  readonly groups: Groups;
  /** The address of the page in a browser; it ends with `/page`. */
  readonly pageUrl: string;
};

export type SignIn = {
  /** Seals sessions. It differs after a change of any setting here, which ends all sessions. */
  readonly secret: Secret;
  /** True: callers sign in with their tokens. */
  readonly hasCallers: boolean;
  readonly provider: ProviderSettings | undefined;
  /** The families whose kinds a user of Kubernetes must be allowed to list; undefined: its token signs nobody in. */
  readonly kube: readonly Family[] | undefined;
};

type Given = Pick<
  Settings<"api">,
  | "families"
  | "pageKubeTokens"
  | "oidcIssuer"
  | "oidcClientId"
  | "oidcClientSecret"
  | "oidcScopes"
  | "oidcGroupsClaim"
  | "oidcGroups"
  | "pageUrl"
>;

const providerIn = (given: Given, report: Report): ProviderSettings | undefined => {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcGroups: groups, pageUrl } = given;
  const clientSecret = openOptional(given.oidcClientSecret, { report, setting: "oidcClientSecret" });
  const needed = { oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecret: clientSecret, oidcGroups: groups };
  if (Object.values(needed).every((value) => value === undefined)) return undefined;
  if (
    issuer === undefined ||
    clientId === undefined ||
    clientSecret === undefined ||
    groups === undefined ||
    pageUrl === undefined
  ) {
    const missing = Object.entries({ ...needed, pageUrl }).flatMap(([name, value]) =>
      value === undefined ? [name] : [],
    );
    throw new Error(`sign-in by an identity provider also needs the settings ${missing.join(", ")}`);
  }
  return {
    issuer,
    clientId,
    clientSecret,
    groups,
    pageUrl,
    scopes: given.oidcScopes,
    groupsClaim: given.oidcGroupsClaim,
  };
};

/** Opens the ways to sign in; undefined: there is none, and no page. Throws where a setting of one is missing. */
export const openSignIn = (given: Given, trigger: Secret | undefined, report: Report): SignIn | undefined => {
  const provider = providerIn(given, report);
  if (trigger === undefined && provider === undefined) {
    if (given.pageKubeTokens)
      throw new Error(
        "pageKubeTokens also needs triggerSecret or an identity provider: their secret seals the sessions",
      );
    return undefined;
  }
  return {
    ...{ provider, hasCallers: trigger !== undefined, kube: given.pageKubeTokens ? given.families : undefined },
    secret: async () => {
      const { clientSecret, issuer, clientId, groups, groupsClaim } = provider ?? {};
      return JSON.stringify([await trigger?.(), await clientSecret?.(), issuer, clientId, groups, groupsClaim]);
    },
  };
};
