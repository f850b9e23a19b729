import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { managerFlags } from '@tartan/api';
import type { Flag } from '@tartan/kube/flags';
import { allFlags, flags } from './flag-table.ts';
import { parseFlags, removedFlags } from './parse-flags.ts';
import type { ProviderOptions } from './provider-options.ts';

/** Every flag, set to another value than its default, without breaking a rule. */
const everything: Record<keyof typeof flags, string> = {
  metricsBindAddress: '127.0.0.1:9080',
  healthProbeBindAddress: '0',
  leaderElect: 'true',
  leaderElectionNamespace: 'leases',
  leaderElectLeaseDuration: '30s',
  leaderElectRenewDeadline: '20s',
  leaderElectRetryPeriod: '500ms',
  machineMaxConcurrentReconciles: '16',
  releaseID: '1f0c9a2e',
  logLevel: 'debug',
  logFormat: 'text',
  kubeconfig: './kubeconfig',
  kubeAPIQPS: '20',
  kubeAPIBurst: '30',
  kubeAPIMaxInFlight: '10',
  secretsNamespace: 'tuist',
  machineNamespaces: 'macs,builders',
  apiServerURL: 'https://k8s.example.com:6443',
  githubAPIURL: 'https://github.example.com/api/v3',
  scalewayCredentialsPath: '/etc/scaleway',
  fleetSpreadDeployment: 'xcresult-processor',
  fleetSpreadNamespace: 'apps',
  defaultAdoptPoolPrefix: 'tuist-pool-',
  adoptPoolPrefixes: 'tuist-builders-,tuist-pool-',
  inventoryInterval: '90s',
  hostPollInterval: '5s',
  orphanReclaimZones: 'fr-par-1,fr-par-3',
  orphanReclaimInterval: '5m0s',
  orphanReclaimClaimNamePrefix: 'tuist-tuist-',
  bootstrapRebootAfter: '2',
  bootstrapMaxAttempts: '0',
  tartkubeletMaxUpdateAttempts: '7',
  tartkubeletTerminalRetryAfter: '0',
  tartkubeletHostCPU: '10',
  tartkubeletHostMemoryMB: '14336',
  tartkubeletMaxPods: '3',
  agentRuntimePath: '/a/node',
  agentReleasePath: '/a/agent.mjs',
  tartTarballPath: '/a/tart.tar.gz',
  nodeExporterBinaryPath: '/a/node_exporter',
  actionsRunnerTarballPath: '/a/runner.tar.gz',
  packerBinaryPath: '/a/packer',
  craneBinaryPath: '/a/crane',
  orasBinaryPath: '/a/oras',
  tailscaleBinariesPath: '/a/tailscale.tar.gz',
  tailscaleAuthKeySecretName: 'tailscale',
  tailscaleTags: 'tag:a,tag:b',
  tailscaleAcceptRoutes: 'true',
  vmKuraEgressCIDR: '10.96.0.0/12',
  vmClusterDNSIP: '10.96.0.10',
};

const asOptions: ProviderOptions = {
  metricsAddress: { host: '127.0.0.1', port: 9080 },
  healthAddress: undefined,
  leaderElection: {
    namespace: 'leases',
    durations: { leaseMs: 30_000, renewDeadlineMs: 20_000, retryPeriodMs: 500 },
  },
  machineWorkers: 16,
  releaseID: '1f0c9a2e',
  requestLimits: { qps: 20, burst: 30, maxInFlight: 10 },
  log: { level: 'debug', pretty: true },
  kubeconfigPath: './kubeconfig',
  secretsNamespace: 'tuist',
  machineNamespaces: ['macs', 'builders'],
  apiServerURL: 'https://k8s.example.com:6443',
  githubAPIURL: 'https://github.example.com/api/v3',
  scalewayCredentialsPath: '/etc/scaleway',
  fleetSpread: { namespace: 'apps', name: 'xcresult-processor' },
  defaultPoolPrefix: 'tuist-pool-',
  allowedPoolPrefixes: ['tuist-pool-', 'tuist-builders-'],
  pollIntervals: { inventoryMs: 90_000, hostMs: 5_000 },
  sweep: {
    zones: ['fr-par-1', 'fr-par-3'],
    intervalMs: 300_000,
    reclaim: { claimNamePrefix: 'tuist-tuist-', poolPrefix: 'tuist-pool-' },
  },
  bootstrap: { rebootAfter: 2, giveUpAfter: undefined },
  update: { giveUpAfter: 7, retryAfterMs: undefined },
  agent: { hostCPU: 10, hostMemoryMB: 14_336, maxPods: 3 },
  artifacts: {
    agentRuntime: '/a/node',
    agentRelease: '/a/agent.mjs',
    tart: '/a/tart.tar.gz',
    nodeExporter: '/a/node_exporter',
    builder: { runner: '/a/runner.tar.gz', packer: '/a/packer', crane: '/a/crane', oras: '/a/oras' },
  },
  tailscale: {
    binariesPath: '/a/tailscale.tar.gz',
    authKeySecretName: 'tailscale',
    tags: ['tag:a', 'tag:b'],
    acceptRoutes: true,
  },
  vmEgress: {
    allow: [
      { cidr: '10.96.0.0/12', protocol: 'tcp', ports: '4000' },
      { cidr: '10.96.0.10/32', protocol: 'tcp', ports: '53' },
      { cidr: '10.96.0.10/32', protocol: 'udp', ports: '53' },
    ],
  },
};

const rows = Object.entries(flags) as [keyof typeof flags, Flag<unknown>][];
const joined = (key: keyof typeof flags): string => `--${flags[key].name}=${everything[key]}`;

describe('the table of flags', () => {
  test('every flag given with = is in the options', () => {
    assert.deepEqual(
      parseFlags(
        rows.map(([key]) => joined(key)),
        {},
      ),
      { options: asOptions },
    );
  });

  test('every flag given as two arguments is in the options', () => {
    const argv = rows.flatMap(([key, { name, isSwitch }]) =>
      isSwitch ? [joined(key)] : [`--${name}`, everything[key]],
    );
    assert.deepEqual(parseFlags(argv, {}), { options: asOptions });
  });

  test('every flag with an environment variable is read from it', () => {
    const argv = rows.filter(([, { env }]) => env === undefined).map(([key]) => joined(key));
    const env = Object.fromEntries(rows.flatMap(([key, flag]) => (flag.env ? [[flag.env, everything[key]]] : [])));
    assert.deepEqual(parseFlags(argv, env), { options: asOptions });
  });

  test('a flag that is not given has its default', () => {
    assert.deepEqual(parseFlags([], {}), { options: defaults });
    const empty = Object.fromEntries(allFlags.flatMap(({ env }) => (env ? [[env, '']] : [])));
    assert.deepEqual(parseFlags([], empty), { options: defaults });
  });

  test('has the flag names that other parts of the system use', () => {
    const names = new Set(allFlags.map(({ name }) => `--${name}`));
    for (const name of Object.values(managerFlags)) assert.ok(names.has(name), name);
  });

  test('has no duplicate flag name or variable, and no removed flag', () => {
    const all = [...allFlags, ...removedFlags];
    const names = all.map(({ name }) => name);
    const variables = all.flatMap(({ env }) => env ?? []);
    assert.equal(new Set(names).size, names.length);
    assert.equal(new Set(variables).size, variables.length);
  });

  for (const [key, flag] of rows) {
    const { name, env } = flag;
    describe(`--${name}`, () => {
      test('has a plain name, a help text in sentences, and a valid default and examples', () => {
        assert.match(name, /^[a-z]+(-[a-z]+)*$/);
        assert.equal(key.toLowerCase(), name.replaceAll('-', ''));
        assert.match(flag.help, /^[A-Za-z].*\.$/);
        assert.deepEqual(flag.parse(flag.defaultText), { value: flag.default });
        assert.ok(flag.examples.length > 0);
        for (const example of flag.examples) assert.ok('value' in flag.parse(example), example);
      });

      test('changes the options', () => {
        const others = rows.filter(([other]) => other !== key).map(([other]) => joined(other));
        const other = flag.isSwitch ? [...others, `--${name}=${everything[key] !== 'true'}`] : others;
        assert.notDeepEqual(parseFlags(other, {}), { options: asOptions });
      });

      test('the last occurrence wins, and the command line wins over the variable', () => {
        const argv = rows.map(([other]) => joined(other));
        const first = `--${name}=${flag.defaultText}`;
        const variables = env === undefined ? {} : { [env]: 'nothing that it takes \0' };
        assert.deepEqual(parseFlags([first, ...argv], variables), { options: asOptions });
      });

      test('an invalid value is reported with the reason and a valid example', () => {
        const bad = 'nothing that it takes \0';
        const sources = [{ argv: [`--${name}=${bad}`], env: {}, source: `--${name}` }];
        if (env !== undefined) sources.push({ argv: [], env: { [env]: bad }, source: env });
        for (const { argv, env: variables, source } of sources) {
          const parsed = parseFlags(argv, variables);
          const [error = '', ...more] = 'errors' in parsed ? parsed.errors : [];
          assert.deepEqual(more, []);
          assert.ok(error.startsWith(source), error);
          assert.ok(error.includes(flag.examples[0] ?? '?'), error);
        }
      });

      test(flag.isSwitch ? 'is on when it stands alone' : 'needs a value', () => {
        const alone = parseFlags([`--${name}`, '--log-level=info'], {});
        const missing = 'errors' in alone && alone.errors.some((error) => error.startsWith(`--${name}: has no value`));
        assert.equal(missing, !flag.isSwitch);
      });
    });
  }
});

const defaults: ProviderOptions = {
  metricsAddress: { host: '', port: 8080 },
  healthAddress: { host: '', port: 8081 },
  leaderElection: {
    namespace: 'default',
    durations: { leaseMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 },
  },
  machineWorkers: 4,
  releaseID: undefined,
  requestLimits: { qps: 100, burst: 200, maxInFlight: 50 },
  log: { level: 'info', pretty: false },
  kubeconfigPath: undefined,
  secretsNamespace: 'default',
  machineNamespaces: ['default'],
  apiServerURL: undefined,
  githubAPIURL: undefined,
  scalewayCredentialsPath: undefined,
  fleetSpread: undefined,
  defaultPoolPrefix: undefined,
  allowedPoolPrefixes: [],
  pollIntervals: { inventoryMs: 60_000, hostMs: 10_000 },
  sweep: { zones: ['fr-par-1'], intervalMs: 900_000, reclaim: undefined },
  bootstrap: { rebootAfter: 3, giveUpAfter: 8 },
  update: { giveUpAfter: 5, retryAfterMs: 1_800_000 },
  agent: { hostCPU: 8, hostMemoryMB: 16_384, maxPods: 2 },
  artifacts: {
    agentRuntime: '/opt/tart-kubelet/node',
    agentRelease: '/opt/tart-kubelet/tart-kubelet.mjs',
    tart: '/opt/tart/tart.tar.gz',
    nodeExporter: undefined,
    builder: undefined,
  },
  tailscale: undefined,
  vmEgress: { allow: [] },
};
