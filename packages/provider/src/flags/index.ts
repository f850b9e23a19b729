/** What the manager is told by its arguments and its environment. */
export { type Flag } from './flag.ts';
export { type FlagGroup, flagGroups } from './flag-table.ts';
export {
  credentialVariables,
  type Credentials,
  parseCredentials,
  type ParsedCredentials,
} from './parse-credentials.ts';
export { parseFlags, type ParsedFlags } from './parse-flags.ts';
export type { ProviderOptions } from './provider-options.ts';
export { type RemovedFlag, removedFlags } from './removed-flags.ts';
export { rules as flagRules } from './rules.ts';
export type { BindAddress } from './types/network-types.ts';
