import { readFileSync } from 'node:fs';
import type { Machine, Part } from '../machine.ts';
import { realPath } from '../launchd/paths.ts';
import { evaluate, type Packet, sourceOnTheWire } from './evaluate.ts';
import { newKernel } from './kernel.ts';
import { loadRules } from './load.ts';
import { pfctl } from './pfctl.ts';
import { startInternetSharing, type VmnetStart } from './vmnet.ts';

/** pf as macOS has it: `pfctl`, a main ruleset, anchors, and the packets that go by. */
export interface PacketFilter extends Part {
  /** What becomes of a packet, by what is loaded, hooked and enabled now. */
  evaluate(packet: Packet): 'pass' | 'block';
  /** The source address with which a packet leaves this Mac. */
  sourceOnTheWire(packet: Packet): string;
  readonly enabled: boolean;
  /** The first virtual machine of this boot starts: InternetSharing enables pf and changes the live main ruleset. */
  startVmnet(options?: VmnetStart): void;
}

/** Of a Mac at a provider. An interface that is not here has no address yet (INC-252). */
const addresses = new Map([
  ['lo0', '127.0.0.1'],
  ['en0', '203.0.113.7'],
  ['bridge100', '192.168.64.1'],
  ['utun4', '100.101.102.103'],
]);
const addressBook = { of: (name: string) => addresses.get(name) };

const textOf = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
};

export const createPacketFilter = (machine: Machine): PacketFilter => {
  let kernel = newKernel();

  /** The job `com.apple.pfctl`: loads pf.conf at boot, and does not enable pf. A file that is bad leaves no hook at all (INC-254). */
  const loadAtBoot = (): void => {
    const source = textOf(machine.path('/etc/pf.conf'));
    if (source === undefined) return;
    const read = (file: string): string | undefined => textOf(realPath(machine, file));
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
    sourceOnTheWire: (packet) => sourceOnTheWire(kernel, packet, addressBook),
    get enabled() {
      return kernel.enabled;
    },
    startVmnet(options = {}) {
      startInternetSharing(kernel, options);
      machine.journal.record('pf.vmnet', options.hooks ?? 'kept');
    },
  };
};
