import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseFlags } from './parse-flags.ts';
import { rules } from './rules.ts';

const tailnet = [
  '--tailscale-binaries-path=/opt/tailscale.tar.gz',
  '--tailscale-auth-key-secret-name=tailscale',
  '--tailscale-tags=tag:mac',
];
const builder = [
  '--actions-runner-tarball-path=/opt/runner.tar.gz',
  '--packer-binary-path=/opt/packer',
  '--crane-binary-path=/opt/crane',
  '--oras-binary-path=/opt/oras',
];
const pool = '--default-adopt-pool-prefix=tuist-pool-';

const fits: [what: string, argv: string[]][] = [
  ['a tailnet', tailnet],
  ['a tailnet whose routes are taken', [...tailnet, '--tailscale-accept-routes']],
  ['no tailnet, and no routes taken', ['--tailscale-accept-routes=false']],
  ['node_exporter in a tailnet', [...tailnet, '--node-exporter-binary-path=/opt/node_exporter']],
  ['all that builders need', builder],
  ['a network and its DNS', ['--vm-kura-egress-cidr=10.96.0.0/12', '--vm-cluster-dns-ip=10.96.0.10']],
  ['a Deployment to spread', ['--fleet-spread-deployment=x']],
  ['a Deployment to spread elsewhere', ['--fleet-spread-deployment=x', '--fleet-spread-namespace=y']],
  ['a pool alone', [pool]],
  ['a pool and a claim prefix beside it', [pool, '--orphan-reclaim-claim-name-prefix=tuist-tuist-']],
  ['several pools', [pool, '--adopt-pool-prefixes=tuist-pool-,tuist-builders-']],
  ['no reboot', ['--bootstrap-reboot-after=0', '--bootstrap-max-attempts=1']],
  ['never given up', ['--bootstrap-reboot-after=9', '--bootstrap-max-attempts=0']],
  ['a reboot right before the end', ['--bootstrap-reboot-after=7', '--bootstrap-max-attempts=8']],
  [
    'a short lease',
    ['--leader-elect-lease-duration=2s', '--leader-elect-renew-deadline=1s', '--leader-elect-retry-period=200ms'],
  ],
  ['any two free ports', ['--metrics-bind-address=:0', '--health-probe-bind-address=:0']],
  ['neither metrics nor probes', ['--metrics-bind-address=0', '--health-probe-bind-address=0']],
];

const objects: [what: string, argv: string[], error: RegExp][] = [
  ['a tailnet without tags', tailnet.slice(0, 2), /secret-name needs --tailscale-tags as well/],
  [
    'a tailnet without its Secret',
    [...tailnet.slice(0, 1), ...tailnet.slice(2)],
    /needs --tailscale-auth-key-secret-name/,
  ],
  ['a tailnet without binaries', tailnet.slice(1), /needs --tailscale-binaries-path/],
  [
    'routes without a tailnet',
    ['--tailscale-accept-routes'],
    /routes needs --tailscale-binaries-path, --tailscale-auth/,
  ],
  ['node_exporter without a tailnet', ['--node-exporter-binary-path=/x'], /needs a tailnet/],
  ...builder.map((left): (typeof objects)[number] => [
    `a builder without ${left}`,
    builder.filter((other) => other !== left),
    new RegExp(`needs ${left.slice(0, left.indexOf('='))} as well`),
  ]),
  ['a network without DNS', ['--vm-kura-egress-cidr=10.96.0.0/12'], /needs --vm-cluster-dns-ip/],
  ['DNS without a network', ['--vm-cluster-dns-ip=10.96.0.10'], /needs --vm-kura-egress-cidr/],
  ['a namespace to spread in alone', ['--fleet-spread-namespace=y'], /needs --fleet-spread-deployment/],
  ['reclaim without a pool', ['--orphan-reclaim-claim-name-prefix=t-'], /needs --default-adopt-pool-prefix/],
  ['the same prefix for both', [pool, '--orphan-reclaim-claim-name-prefix=tuist-pool-'], /overlap: a host in the pool/],
  [
    'a claim prefix around the pool',
    ['--default-adopt-pool-prefix=macs-pool-', '--orphan-reclaim-claim-name-prefix=macs-'],
    /overlap: a host in the pool/,
  ],
  ['a claim prefix inside the pool', [pool, '--orphan-reclaim-claim-name-prefix=tuist-pool-a-'], /overlap: a host in/],
  [
    'a claim prefix inside one of several pools',
    [pool, '--adopt-pool-prefixes=tuist-pool-,tuist-builders-', '--orphan-reclaim-claim-name-prefix=tuist-builders-a-'],
    /and --adopt-pool-prefixes "tuist-builders-" overlap/,
  ],
  [
    'several pools, one of them of pending claims',
    ['--adopt-pool-prefixes=a-,tuist-claim-'],
    /overlaps "tuist-claim-p/,
  ],
  ['a pool of pending claims', ['--default-adopt-pool-prefix=tuist-claim-'], /overlaps "tuist-claim-pending-"/],
  [
    'a pool of hosts on their way back',
    ['--default-adopt-pool-prefix=tuist-releasing-'],
    /overlaps "tuist-releasing-"/,
  ],
  [
    'a claim prefix around pending claims',
    ['--default-adopt-pool-prefix=macs-', '--orphan-reclaim-claim-name-prefix=tuist-'],
    /^--orphan-reclaim-claim-name-prefix "tuist-" overlaps/,
  ],
  ['a reboot too late', ['--bootstrap-reboot-after=8'], /8 is not below --bootstrap-max-attempts 8/],
  [
    'a leader that outlives its lease',
    ['--leader-elect-lease-duration=10s'],
    /must last longer than the renew deadline/,
  ],
  ['a leader that cannot miss a renewal', ['--leader-elect-retry-period=9s'], /1\.2 times the retry period/],
  ['a lease of half a second', ['--leader-elect-lease-duration=15500ms'], /must last whole seconds/],
  ['one port for both', ['--metrics-bind-address=:8081'], /both take port 8081/],
];

describe('rules between flags', () => {
  for (const [what, argv] of fits) {
    test(`${what} is accepted`, () => assert.ok('options' in parseFlags(argv, {})));
  }
  for (const [what, argv, error] of objects) {
    test(`${what} is rejected`, () => {
      const parsed = parseFlags(argv, {});
      const errors = 'errors' in parsed ? parsed.errors : [];
      assert.equal(errors.length, 1, errors.join('\n'));
      assert.match(errors[0] ?? '', error);
    });
  }
  test('every rule names its flags', () => {
    for (const { description, reads } of rules) {
      assert.match(description, /\.$/);
      assert.notEqual(reads.length, 0);
    }
  });
});
