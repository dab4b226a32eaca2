/** Loads the client library of an object store: an optional peer package, not part of any bundle. */
import { ApiError } from "../../core/errors.ts";

/** Imports a module by its name; the name is a value, so that bundlers do not include the module. */
export type Load = (name: string) => Promise<unknown>;

export const importByName: Load = (name) => import(name);

const isMissing = (cause: unknown, name: string): boolean =>
  cause instanceof Error &&
  "code" in cause &&
  (cause.code === "ERR_MODULE_NOT_FOUND" || cause.code === "MODULE_NOT_FOUND") &&
  cause.message.includes(name);

/** Returns the module; if it is missing, rejects with the name of the package to install. */
export const loadSdk = async (name: string, scheme: string, load: Load): Promise<unknown> => {
  try {
    return await load(name);
  } catch (cause) {
    if (!isMissing(cause, name)) throw cause;
    const message = `uploading to ${scheme}:// needs the npm package ${name}; install it beside rekindle: npm install ${name}`;
    throw new ApiError({ status: 0, reason: "StoreWithoutSdk", message, cause });
  }
};
