import { type Kernel, rulesetOf } from './kernel.ts';
import { parseRuleset } from './parse-ruleset.ts';
import type { Entry, Ruleset, Section } from './rule.ts';

export interface VmnetStart {
  /**
   * What becomes of hooks that are in the live main ruleset. Starting vmnet may replace it (apple/container#402,
   * corectl#105, sshuttle#975): all but Apple's own gone, or those of `com.apple/*` too.
   */
  readonly hooks?: 'kept' | 'foreign dropped' | 'all dropped';
}

const own = 'com.apple.internet-sharing';
const isApple = (entry: Entry): boolean => entry.kind === 'hook' && entry.anchor.startsWith('com.apple');
const order: readonly Section[] = ['scrub', 'nat', 'binat', 'rdr', 'dummynet', 'filter'];
const sectionRank = (entry: Entry): number =>
  order.indexOf(entry.kind === 'translation' ? entry.action : entry.kind === 'hook' ? entry.section : entry.kind);

const ruleset = (text: string): Ruleset => ({
  entries: parseRuleset('InternetSharing', text).entries,
  tables: new Map(),
});

/** What InternetSharing does when the first virtual machine starts: pf on, its hooks in the live main ruleset, its NAT below them. */
export const startInternetSharing = (kernel: Kernel, { hooks = 'kept' }: VmnetStart): void => {
  kernel.enabled = true;
  kernel.references.set('16999999999999999999', { pid: 380, process: 'InternetSharing' });
  const main = rulesetOf(kernel, '');
  const kept = main.entries.filter(
    (entry) =>
      !(entry.kind === 'hook' && entry.anchor === own) &&
      (hooks === 'kept' || (hooks === 'foreign dropped' && isApple(entry))),
  );
  const added = ruleset(`scrub-anchor "${own}"\nnat-anchor "${own}"\nrdr-anchor "${own}"\nanchor "${own}"\n`);
  kernel.rulesets.set('', {
    entries: [...kept, ...added.entries].sort((a, b) => sectionRank(a) - sectionRank(b)),
    tables: main.tables,
  });
  kernel.rulesets.set(own, ruleset('nat-anchor "shared_v4"\nrdr-anchor "shared_v4"\nanchor "shared_v4"\n'));
  kernel.rulesets.set(
    `${own}/shared_v4`,
    ruleset(
      'no nat on bridge100 inet from 192.168.64.1 to 192.168.64.0/24\nnat on en0 inet from 192.168.64.0/24 to any -> (en0)\n',
    ),
  );
};
