import { createHash } from 'node:crypto';
import { ipv4Network } from '@tartan/kube/flags';
import type { VmEgress } from '../host-spec.ts';
import { renderPlist } from '../launchd-plist.ts';
import { defineStep, type Step } from './step.ts';

/** The network that vmnet gives to virtual machines and to the host's end. */
const vmNetwork = '192.168.64.0/22';

/**
 * Virtual machines reach these only where `allow` permits it: private networks, carrier-grade NAT (which tailnets use) and link-local
 * with the metadata service. The vmnet itself is excluded: its gateway serves DHCP and DNS.
 */
const blocked = ['10.0.0.0/8', '100.64.0.0/10', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16', `!${vmNetwork}`];

/** vmnet numbers its bridges from 100. A host runs two virtual machines at most, in the worst case each on its own network. */
const bridges = ['bridge100', 'bridge101', 'bridge102', 'bridge103'];

/** A port, or a range of them. */
const portRange = /^(\d{1,5})(?::(\d{1,5}))?$/;

/** Throws if an entry of `allow` is invalid. */
const passRule = ({ protocol, cidr, ports }: VmEgress['allow'][number], index: number): string => {
  const invalid = (what: string): TypeError => new TypeError(`vmEgress.allow[${index}]: ${what}`);
  if (!['tcp', 'udp'].includes(protocol)) throw invalid(`${JSON.stringify(protocol)} is neither tcp nor udp.`);
  const network = ipv4Network.parse(cidr);
  if (!('value' in network))
    throw invalid(`${JSON.stringify(cidr)} ${network.problem}. Write a network such as 172.16.0.0/22.`);
  const ranges = ports.split(',').map((text) => {
    const [, first, last = first] = portRange.exec(text.trim()) ?? [];
    const [low, high] = [Number(first), Number(last)];
    if (!(low >= 1 && high <= 65_535 && low <= high))
      throw invalid(`${JSON.stringify(ports)} are no ports such as 4000, 30000:32767 or 80,443.`);
    return low === high ? `${low}` : `${low}:${high}`;
  });
  const port = ranges.length === 1 ? ranges.join() : `{ ${ranges.join(', ')} }`;
  return `pass quick inet proto ${protocol} from <vm_sources> to ${network.value} port ${port} keep state`;
};

/**
 * The pf rules of the anchor. Throws if `allow` is invalid.
 *
 * pf sees a packet of a virtual machine twice: coming in on a bridge, and going out, where NAT may have changed its source. So blocks apply
 * in both directions, and on the bridges to any source address. All rules are `quick`: the first that matches decides.
 * IPv6 is blocked at the bridge: vmnet would translate it past these rules. Tables are not `persist`: those outlive their rules (INC-246).
 */
export const egressRules = ({ allow }: VmEgress) => {
  const onBridges = `in quick on { ${bridges.join(', ')} }`;
  const tables = [`table <vm_sources> { ${vmNetwork} }`, `table <blocked_dst> { ${blocked.join(', ')} }`];
  const rules = [
    // The metadata service hands out the host's own credentials: always blocked.
    'block drop quick inet from <vm_sources> to 169.254.169.254',
    `block drop ${onBridges} inet6 all`,
    ...allow.map(passRule),
    'block drop quick inet from <vm_sources> to <blocked_dst>',
    `block drop ${onBridges} inet from any to <blocked_dst>`,
  ];
  const version = createHash('sha256')
    .update([...tables, ...rules].join('\n'))
    .digest('hex')
    .slice(0, 16);
  const label = `tuist.runners:${version}`;
  return {
    /** The text of the anchor. */
    text: [
      '# What virtual machines may reach beyond the internet. Written by Tartan: changes are lost.',
      ...tables,
      ...rules.map((rule) => `${rule} label "${label}"`),
      '',
    ].join('\n'),
    /** A label on every rule that depends on the whole text: it identifies the rules that the kernel has loaded. */
    label,
  };
};

/**
 * Loads the anchors and enables pf, which macOS leaves off at boot. It does nothing else, because it also runs at each registration, on
 * hosts with running virtual machines. It retries for a minute: Apple's own job loads pf.conf at the same time.
 */
const bootScript = `tries=30
until pfctl -a com.apple/tuist.runners -f /etc/pf.anchors/tuist.runners && pfctl -a tuist.runners -f /etc/pf.anchors/tuist.runners; do
  tries=$((tries - 1))
  [ "$tries" -gt 0 ] || exit 1
  sleep 2
done
pfctl -s info 2>/dev/null | grep -q '^Status: Enabled' || pfctl -E
`;

const bootJob = renderPlist({
  Label: 'dev.tuist.pfctl-runners',
  ProgramArguments: ['/bin/sh', '-c', bootScript],
  RunAtLoad: true,
  StandardOutPath: '/var/log/tuist-pfctl-runners.log',
  StandardErrorPath: '/var/log/tuist-pfctl-runners.log',
});

/**
 * Keeps virtual machines out of private networks.
 *
 * The rules are loaded twice. `com.apple/tuist.runners` takes effect at once, because macOS's main ruleset includes every anchor below
 * `com.apple`. `tuist.runners`, which older fleets have in their pf.conf, takes effect at the next boot: a step never reloads the main
 * ruleset on a live host, which would drop rules of the system (INC-249, INC-255).
 */
export const vmEgress = defineStep({
  name: 'vm-egress',
  title: 'keep virtual machines out of private networks',
  deadline: 120_000,
  intent: ({ vmEgress }) => ({ vmEgress }),
  environment: ({ vmEgress }) => {
    const { text, label } = egressRules(vmEgress);
    return { RULES: text, RULES_LABEL: label, PLIST: bootJob };
  },
});

/**
 * Sets the DHCP lease time of guests to ten minutes instead of a day. Every virtual machine is a new guest, and there are 253 addresses:
 * with leases of a day a Mac with short jobs runs out of them, and guests get none, or one that is in use (INC-428).
 */
export const guestLeases: Step = {
  name: 'guest-leases',
  title: 'let guests keep their addresses for ten minutes',
  deadline: 30_000,
  intent: () => ({ seconds: 600 }),
  environment: () => ({ LEASE_SECONDS: '600' }),
};
