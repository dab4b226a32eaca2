/** The plugins that upstream has, in the order in which they touch a pod here: what others build on comes first. */

/** `svc` names the pods before others ask for the names; `hcclrank` reads what `pytorch` wrote. */
export const pluginNames = ["svc", "env", "ssh", "tensorflow", "mpi", "pytorch", "ray", "hcclrank"] as const;

export type PluginName = (typeof pluginNames)[number];

export const isPlugin = (name: string): name is PluginName => pluginNames.some((known) => known === name);
