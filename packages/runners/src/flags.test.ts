import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Flag } from '@tartan/kube/flags';
import { allFlags, flagRules, flags, parseFlags, type RunnersOptions } from './flags.ts';
import { defaultLimits } from './pool/limits.ts';

/** Every flag with a valid value other than its default. */
const everything: Record<keyof typeof flags, string> = {
  metricsBindAddress: '127.0.0.1:9080',
  healthProbeBindAddress: '0',
  leaderElect: 'true',
  leaderElectionNamespace: 'leases',
  leaderElectLeaseDuration: '30s',
  leaderElectRenewDeadline: '20s',
  leaderElectRetryPeriod: '500ms',
  logLevel: 'debug',
  logFormat: 'text',
  kubeconfig: './kubeconfig',
  kubeAPIQPS: '20',
  kubeAPIBurst: '30',
  kubeAPIMaxInFlight: '10',
  namespace: 'ci',
  githubAPIURL: 'https://github.example.com/api/v3/',
  settleSeconds: '90',
  stuckAfterSeconds: '1200',
};

const asOptions: RunnersOptions = {
  metricsAddress: { host: '127.0.0.1', port: 9080 },
  healthAddress: undefined,
  leaderElection: {
    namespace: 'leases',
    durations: { leaseMs: 30_000, renewDeadlineMs: 20_000, retryPeriodMs: 500 },
  },
  requestLimits: { qps: 20, burst: 30, maxInFlight: 10 },
  log: { level: 'debug', pretty: true },
  kubeconfigPath: './kubeconfig',
  namespace: 'ci',
  githubURL: 'https://github.example.com/api/v3',
  limits: { settleMs: 90_000, stuckAfterMs: 1_200_000 },
};

const rows: [keyof typeof flags, Flag<unknown>][] = Object.entries(flags).map(([key, row]) => {
  const known = Object.keys(everything).find((each): each is keyof typeof flags => each === key);
  assert.ok(known, key);
  return [known, row];
});
const joined = (key: keyof typeof flags): string => `--${flags[key].name}=${everything[key]}`;
const errorsOf = (...parsed: Parameters<typeof parseFlags>): readonly string[] => {
  const result = parseFlags(...parsed);
  return 'errors' in result ? result.errors : [];
};

describe('the flags of the runners controller', () => {
  test('every flag reaches the options', () => {
    const argv = rows.map(([key]) => joined(key));
    assert.deepEqual(parseFlags(argv, {}), { options: asOptions });
  });

  test('every flag with an environment variable reads it', () => {
    const argv = rows.filter(([, { env }]) => env === undefined).map(([key]) => joined(key));
    const env = Object.fromEntries(rows.flatMap(([key, { env: name }]) => (name ? [[name, everything[key]]] : [])));
    assert.deepEqual(parseFlags(argv, env), { options: asOptions });
  });

  test('an unset flag has its default, and the lease is in the namespace of the pools', () => {
    assert.deepEqual(parseFlags([], { POD_NAMESPACE: 'ci', GITHUB_API_URL: '' }), {
      options: {
        metricsAddress: { host: '', port: 8080 },
        healthAddress: { host: '', port: 8081 },
        leaderElection: {
          namespace: 'ci',
          durations: { leaseMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 },
        },
        requestLimits: { qps: 100, burst: 200, maxInFlight: 50 },
        log: { level: 'info', pretty: false },
        kubeconfigPath: undefined,
        namespace: 'ci',
        githubURL: 'https://api.github.com',
        limits: defaultLimits,
      },
    });
  });

  test('flag names and environment variables are unique', () => {
    const names = allFlags.map(({ name }) => name);
    const variables = allFlags.flatMap(({ env }) => env ?? []);
    assert.equal(new Set(names).size, names.length);
    assert.equal(new Set(variables).size, variables.length);
  });

  for (const [key, flag] of rows) {
    test(`--${flag.name} has a plain name, a help text in sentences, a valid default and examples, and an effect`, () => {
      assert.match(flag.name, /^[a-z]+(-[a-z]+)*$/);
      assert.equal(key.toLowerCase(), flag.name.replaceAll('-', ''));
      assert.match(flag.help, /^[A-Za-z].*\.$/);
      assert.deepEqual(flag.parse(flag.defaultText), { value: flag.default });
      for (const example of flag.examples) assert.ok('value' in flag.parse(example), example);
      const others = rows.filter(([other]) => other !== key).map(([other]) => joined(other));
      const changed = flag.isSwitch ? [...others, `--${flag.name}=false`] : others;
      assert.notDeepEqual(parseFlags(changed, {}), { options: asOptions });
    });
  }

  const refused: [what: string, argv: string[], error: RegExp][] = [
    ['no namespace', [], /^--namespace is not set.*POD_NAMESPACE\.$/],
    ['an unknown flag', ['--namespace=ci', '--settle-second=5'], /the nearest is --settle-seconds/],
    ['less than an agent needs to report', ['--namespace=ci', '--settle-seconds=1'], /is not between 5 and 3600/],
    ['GitHub in clear text', ['--namespace=ci', '--github-api-url=http://github.example.com'], /https:\/\//],
    ['one port for both', ['--namespace=ci', '--metrics-bind-address=:8081'], /both take port 8081/],
    ['a leader that outlives its lease', ['--namespace=ci', '--leader-elect-lease-duration=10s'], /longer than the/],
  ];
  for (const [what, argv, error] of refused) {
    test(`${what} is rejected`, () => {
      const [first = '', ...more] = errorsOf(argv, {});
      assert.match(first, error);
      assert.deepEqual(more, []);
    });
  }

  test('every rule names its flags', () => {
    for (const { description, reads } of flagRules) {
      assert.match(description, /\.$/);
      assert.notEqual(reads.length, 0);
    }
  });

  test('--help lists every flag', () => {
    const parsed = parseFlags(['--nonsense', '--help'], {});
    assert.ok('help' in parsed);
    for (const { name } of allFlags) assert.match(parsed.help, new RegExp(`^  --${name}( |$)`, 'm'));
  });
});
