/** What the runners controller is told by its arguments and its environment. */
export { flagGroups } from './flag-table.ts';
export { rules as flagRules } from './rules.ts';
