/** What the manager is told by its arguments and its environment. */
export { flagGroups } from './flag-table.ts';
export {
  credentialVariables,
  type Credentials,
  parseCredentials,
  type ParsedCredentials,
} from './parse-credentials.ts';
export { type ParsedFlags, parseFlags, removedFlags } from './parse-flags.ts';
export type { ProviderOptions } from './provider-options.ts';
export { rules as flagRules } from './rules.ts';
