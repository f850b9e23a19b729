/** The manager's flags and environment variables. */
export { flagGroups } from './flag-table.ts';
export { credentialVariables } from './parse-credentials.ts';
export { parseFlags, removedFlags } from './parse-flags.ts';
export { rules as flagRules } from './rules.ts';
