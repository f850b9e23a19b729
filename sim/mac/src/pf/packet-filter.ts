import { readFileSync } from 'node:fs';
import { type Machine, realPath, type Subsystem } from '../machine.ts';
import { evaluate, type Packet, sourceAfterNat } from './evaluate.ts';
import { type Kernel, newKernel, rulesetOf } from './kernel.ts';
import { loadRules } from './load.ts';
import { parseRuleset } from './parse/ruleset.ts';
import { pfctl } from './pfctl.ts';
import type { PfRule, Ruleset, Section } from './rule.ts';

interface VmnetOptions {
  /**
   * Which anchor rules of the live main ruleset survive. Starting vmnet may replace it (apple/container#402, corectl#105, sshuttle#975):
   * only Apple's own stay, or none at all.
   */
  readonly anchorRules?: 'kept' | 'only com.apple kept' | 'none kept';
}

const internetSharingAnchor = 'com.apple.internet-sharing';
const isApple = (entry: PfRule): boolean => entry.kind === 'anchor' && entry.anchor.startsWith('com.apple');
const sectionOrder: readonly Section[] = ['scrub', 'nat', 'binat', 'rdr', 'dummynet', 'filter'];
const sectionRank = (entry: PfRule): number =>
  sectionOrder.indexOf(
    entry.kind === 'translation' ? entry.action : entry.kind === 'anchor' ? entry.section : entry.kind,
  );

const parsedRuleset = (text: string): Ruleset => ({
  entries: parseRuleset('InternetSharing', text).entries,
  tables: new Map(),
});

/**
 * What InternetSharing does when the first virtual machine starts: enables pf, adds its anchor rules to the live main ruleset, and its NAT
 * below them.
 */
const startInternetSharing = (kernel: Kernel, { anchorRules = 'kept' }: VmnetOptions): void => {
  kernel.enabled = true;
  kernel.references.set('16999999999999999999', { pid: 380, process: 'InternetSharing' });
  const main = rulesetOf(kernel, '');
  const kept = main.entries.filter(
    (entry) =>
      !(entry.kind === 'anchor' && entry.anchor === internetSharingAnchor) &&
      (anchorRules === 'kept' || (anchorRules === 'only com.apple kept' && isApple(entry))),
  );
  const added = parsedRuleset(
    `scrub-anchor "${internetSharingAnchor}"\nnat-anchor "${internetSharingAnchor}"\nrdr-anchor "${internetSharingAnchor}"\nanchor "${internetSharingAnchor}"\n`,
  );
  kernel.rulesets.set('', {
    entries: [...kept, ...added.entries].sort((a, b) => sectionRank(a) - sectionRank(b)),
    tables: main.tables,
  });
  kernel.rulesets.set(
    internetSharingAnchor,
    parsedRuleset('nat-anchor "shared_v4"\nrdr-anchor "shared_v4"\nanchor "shared_v4"\n'),
  );
  kernel.rulesets.set(
    `${internetSharingAnchor}/shared_v4`,
    parsedRuleset(
      'no nat on bridge100 inet from 192.168.64.1 to 192.168.64.0/24\nnat on en0 inet from 192.168.64.0/24 to any -> (en0)\n',
    ),
  );
};

/** pf of macOS: `pfctl`, a main ruleset, anchors, and packet evaluation. */
export interface PacketFilter extends Subsystem {
  /** Evaluates a packet with the current rules. */
  evaluate(packet: Packet): 'pass' | 'block';
  /** The source address of a packet when it leaves this Mac. */
  sourceAfterNat(packet: Packet): string;
  readonly enabled: boolean;
  /** The first virtual machine of this boot starts: InternetSharing enables pf and changes the live main ruleset. */
  startVmnet(options?: VmnetOptions): void;
}

/** Of a Mac at a provider. An interface that is missing here has no address yet (INC-252). */
const addresses = new Map([
  ['lo0', '127.0.0.1'],
  ['en0', '203.0.113.7'],
  ['bridge100', '192.168.64.1'],
  ['utun4', '100.101.102.103'],
]);
const addressBook = { of: (name: string) => addresses.get(name) };

const readText = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
};

export const createPacketFilter = (machine: Machine): PacketFilter => {
  let kernel = newKernel();

  /** The job `com.apple.pfctl`: loads pf.conf at boot, and does not enable pf. An invalid file leaves no anchor rule at all (INC-254). */
  const loadAtBoot = (): void => {
    const source = readText(machine.path('/etc/pf.conf'));
    if (source === undefined) return;
    const read = (file: string): string | undefined => readText(realPath(machine, file));
    const outcome = loadRules(kernel, { anchor: '', file: '/etc/pf.conf', source, dryRun: false, busy: false, read });
    machine.journal.record('pf.boot', outcome.kind);
  };

  return {
    tools: { pfctl: pfctl(machine, () => kernel) },
    async boot() {
      kernel = newKernel();
      loadAtBoot();
    },
    async shutdown() {
      kernel = newKernel();
    },
    evaluate: (packet) => evaluate(kernel, packet, addressBook),
    sourceAfterNat: (packet) => sourceAfterNat(kernel, packet, addressBook),
    get enabled() {
      return kernel.enabled;
    },
    startVmnet(options = {}) {
      startInternetSharing(kernel, options);
      machine.journal.record('pf.vmnet', options.anchorRules ?? 'kept');
    },
  };
};
