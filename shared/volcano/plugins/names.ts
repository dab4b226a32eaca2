/** The plugins that upstream has, in the order in which Rekindle applies them: each follows those that it builds on. */

/** `svc` names the pods before other plugins use the names; `hcclrank` reads the variable that `pytorch` wrote. */
export const pluginNames = ["svc", "env", "ssh", "tensorflow", "mpi", "pytorch", "ray", "hcclrank"] as const;

export type PluginName = (typeof pluginNames)[number];

export const isPlugin = (name: string): name is PluginName => pluginNames.some((known) => known === name);
