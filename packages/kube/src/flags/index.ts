/** What a program is told by its arguments and its environment. */
export {
  type Flag,
  flag,
  type FlagGroup,
  type FlagRule,
  type FlagTable,
  type FlagType,
  listOf,
  optional,
  type ReadFlag,
  type RemovedFlag,
} from './flag.ts';
export { helpText } from './help-text.ts';
export {
  leaderElectionFlags,
  kubeconfigFlag,
  logFlags,
  type ManagerFlagValues,
  managerFlagValues,
  managerRules,
  bindAddressFlags,
} from './manager-flags.ts';
export { nearestName, similarity } from './nearest-name.ts';
export { type Environment, parseFlagTable } from './parse-flags.ts';
export {
  absolutePath,
  bool,
  duration,
  integer,
  namespaceName,
  objectName,
  oneOf,
  stringMatching,
} from './value-types.ts';
export { apiURL, ipv4Address, ipv4Network, serverURL } from './network-types.ts';
