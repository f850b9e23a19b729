import { type Kernel, putRuleset, rulesetOf } from './kernel.ts';
import { type Section, sectionOf } from './rule.ts';

const flushed: Readonly<Record<string, readonly Section[]>> = {
  rules: ['scrub', 'filter'],
  nat: ['nat', 'binat', 'rdr'],
  dummynet: ['dummynet'],
  Tables: [],
  all: ['scrub', 'filter', 'nat', 'binat', 'rdr', 'dummynet'],
};

/** `pfctl -F`: of the main ruleset or of one anchor, never of what is below. Tables that are `persist` survive even `all` (INC-246). */
export const flush = (kernel: Kernel, anchor: string, modifier: string): string => {
  const ruleset = rulesetOf(kernel, anchor);
  const sections = flushed[modifier] ?? [];
  const entries = ruleset.entries.filter((entry) => !sections.includes(sectionOf(entry)));
  putRuleset(kernel, anchor, { entries, tables: ruleset.tables });
  const deleted = ruleset.tables.size - rulesetOf(kernel, anchor).tables.size;
  if (modifier === 'all')
    return `rules cleared\nnat cleared\ndummynet cleared\n${deleted} tables deleted.\n${anchor === '' ? '0 states cleared\nsource tracking entries cleared\npf: statistics cleared\npf: interface flags reset\n' : ''}`;
  return modifier === 'Tables' ? `${deleted} tables deleted.\n` : `${modifier} cleared\n`;
};
