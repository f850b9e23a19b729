/** What a program is told by its arguments and its environment. */
export { type Flag, flag } from './flag.ts';
export type { FlagGroup, FlagTable, Read, RemovedFlag, Rule } from './flag-table.ts';
export { helpText } from './help-text.ts';
export {
  electionFlags,
  kubeconfigFlag,
  logFlags,
  type ManagerOptions,
  managerOptions,
  managerRules,
  servingFlags,
} from './manager-flags.ts';
export type { Environment } from './read-arguments.ts';
export { readFlags } from './read-flags.ts';
export { duration } from './types/duration.ts';
export { type FlagType, listOf, optional } from './types/flag-type.ts';
export { apiURL, type BindAddress, ipv4Address, ipv4Network, serverURL } from './types/network-types.ts';
export { absolutePath, count, namespaceName, objectName, shaped, yesOrNo } from './types/plain-types.ts';
