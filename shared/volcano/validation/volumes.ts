/** Checks a job's volumes, in upstream's words; empty if nothing is wrong. */
import { goList, subdomainErrors } from "../schema/names.ts";
import type { Volume } from "../schema/spec.ts";

const claimConflict = [
  "conflict: If you want to use an existing PVC, just specify VolumeClaimName.",
  "If you want to create a new PVC, you do not need to specify VolumeClaimName",
].join("");

const errorOf = ({ mountPath = "", volumeClaim, volumeClaimName = "" }: Volume, taken: ReadonlySet<string>): string => {
  if (mountPath === "") return " mountPath is required;";
  if (taken.has(mountPath)) return ` duplicated mountPath: ${mountPath};`;
  if (volumeClaim === undefined && volumeClaimName === "")
    return " either VolumeClaim or VolumeClaimName must be specified;";
  if (volumeClaimName === "") return "";
  if (volumeClaim !== undefined) return claimConflict;
  const errors = subdomainErrors(volumeClaimName);
  return errors.length === 0 ? "" : `invalid VolumeClaimName ${volumeClaimName} : ${goList(errors)}`;
};

export const volumeSaying = (volumes: readonly Volume[]): string => {
  const taken = new Set<string>();
  for (const volume of volumes) {
    const error = errorOf(volume, taken);
    if (error !== "") return error;
    taken.add(volume.mountPath ?? "");
  }
  return "";
};
