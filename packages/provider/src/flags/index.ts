/** What the manager is told by its arguments and its environment. */
export { flagGroups } from './flag-table.ts';
export { credentialVariables } from './parse-credentials.ts';
export { parseFlags, removedFlags } from './parse-flags.ts';
export { rules as flagRules } from './rules.ts';
