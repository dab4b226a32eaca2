/** ConfigMaps of settings for overlays: every setting that has a place there, at its default. */

import type { Obj } from "../shared/core/object.ts";
import type { Target } from "../shared/deployments/settings/absence.ts";
import { reasonOf } from "../shared/deployments/settings/reference.ts";
import { isReadIn, rowOf, type SettingName, settingNames, variableName } from "../shared/deployments/settings/table.ts";
import { named } from "../shared/installation/roles.ts";

const modes = { hostOverlay: "host", functionsOverlay: "functions" } as const;

type Overlay = keyof typeof modes & Target;

const defaultIn = (overlay: Overlay, name: SettingName): string => {
  const { default: usual = "", functions = usual } = rowOf(name);
  return overlay === "hostOverlay" ? usual : functions;
};

/** Settings with a place in an overlay. Secret ones belong in a Secret of the same name, which is not generated. */
const settingsOf = (overlay: Overlay): readonly SettingName[] =>
  settingNames.filter(
    (name) => isReadIn(modes[overlay], name) && rowOf(name).secret !== true && reasonOf(name, overlay) === undefined,
  );

type Map = {
  readonly name: string;
  readonly namespace: string;
  /** Values beside the defaults, or in place of them. */
  readonly given?: Readonly<Record<string, string>>;
};

export const settingsMap = (overlay: Overlay, { name, namespace, given = {} }: Map): Obj => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: named(name, namespace),
  data: {
    ...Object.fromEntries(settingsOf(overlay).map((one) => [variableName(one), defaultIn(overlay, one)])),
    ...given,
  },
});
