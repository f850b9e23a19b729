import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { chart, helm } from './chart/helm.ts';
import { deploymentOf, refusal, render } from './chart/render.ts';
import { allFleets, fleetWith, production, type Values } from './chart/value-sets.ts';

const sweeping = { orphanReclaim: { activeReclaim: true } };

describe('rejected values', () => {
  const byTheSchema: readonly [what: string, values: Values, said: RegExp][] = [
    ['a word that nobody reads', { macosFleets: {} }, /additional properties 'macosFleets' not allowed/],
    ['one in a fleet', fleetWith('macosFleet', { replica: 1 }), /\/macosFleet': additional properties 'replica' not/],
    ['one far down', { runnersFleet: { machine: { os: 'Tahoe', cpu: 1 } } }, /\/runnersFleet\/machine'.*'cpu' not/],
    ['what only another fleet has', fleetWith('runnersFleet', { ghOrg: 'o' }), /'ghOrg' not allowed/],
    ...['512MB', '1 Gi', '-1Gi', 'Gi', '1e', '0x10', 'lots'].flatMap((quantity): [string, Values, RegExp][] =>
      ['provider', 'runnersController'].map((program) => [
        `memory of ${program} that is no quantity, ${quantity}`,
        { [program]: { resources: { limits: { memory: quantity } } } },
        new RegExp(`${program}/resources/limits/memory.*${quantity}`),
      ]),
    ),
    ['a CPU limit that is no quantity', { provider: { resources: { limits: { cpu: '2 cores' } } } }, /limits\/cpu'/],
    ['a negative CPU limit', { provider: { resources: { limits: { cpu: -1 } } } }, /limits\/cpu'/],
    ['a request that is no quantity', { provider: { resources: { requests: { cpu: true } } } }, /requests\/cpu'/],
    ['a GitHub that is none', { runnersController: { githubApiUrl: 'github.example.com' } }, /githubApiUrl'/],
    ['a number as text', fleetWith('macosFleet', { replicas: '3' }), /\/macosFleet\/replicas'.*got string/],
    ['fewer than none', fleetWith('macosFleet', { replicas: -1 }), /\/macosFleet\/replicas'/],
    ['a version of macOS', fleetWith('macosFleet', { machine: { os: 'macOS 26' } }), /\/macosFleet\/machine\/os'/],
    ['a prefix without its dash', fleetWith('macosFleet', { adoptPoolPrefix: 'pool' }), /adoptPoolPrefix'.*'pool'/],
    ['no pool at all', fleetWith('macosFleet', { adoptPoolPrefix: '' }), /\/macosFleet\/adoptPoolPrefix'/],
    ['no zone', fleetWith('macosFleet', { machine: { zone: 'paris' } }), /\/macosFleet\/machine\/zone'.*'paris'/],
  ];
  for (const [what, values, said] of byTheSchema)
    test(`${what}, by name`, async () => assert.match(await refusal(values), said));

  const contradictions: readonly [what: string, values: Values, said: RegExp][] = [
    [
      'a fleet that the sweep would never know',
      { ...fleetWith('macosFleet', sweeping), ...fleetWith('runnersFleet', { name: 'others' }) },
      /begin with "tartan-", and runnersFleet\.name "others" does not.*Rename the fleet/,
    ],
    [
      'a sweep that takes the pool for claimed Macs',
      { fullnameOverride: 'tuist-pool', ...fleetWith('macosFleet', { ...sweeping, adoptPoolPrefix: 'tuist-pool-a-' }) },
      /begin with "tuist-pool-", and the pool prefix is "tuist-pool-a-"/,
    ],
    [
      'a sweep that takes Macs on their way back for stranded ones',
      { fullnameOverride: 'tuist', ...fleetWith('macosFleet', { ...sweeping, adoptPoolPrefix: 'pool-' }) },
      /overlaps "tuist-claim-pending-"/,
    ],
    [
      'claimed Macs that look like free ones',
      fleetWith('runnersFleet', { name: 'tuist-pool-runners' }),
      /runnersFleet is named "tuist-pool-runners", which begins with the pool prefix "tuist-pool-"/,
    ],
    [
      'a pool that looks like Macs on their way back',
      fleetWith('macosFleet', { adoptPoolPrefix: 'tuist-releasing-' }),
      /adoptPoolPrefix "tuist-releasing-" overlaps/,
    ],
    [
      'two fleets of one name',
      { ...fleetWith('macosFleet', { name: 'x' }), ...fleetWith('runnersFleet', { name: 'x' }) },
      /macosFleet and runnersFleet are both named "x"/,
    ],
    [
      'a name that does not fit into a label',
      { fullnameOverride: 'a'.repeat(40), ...fleetWith('macosFleet') },
      /longer than 51 characters.*Set fullnameOverride or macosFleet\.name/,
    ],
    [
      'builders without a GitHub App',
      { buildersFleet: { enabled: true, ghOrg: 'o' } },
      /without buildersFleet\.ghAppSecretName/,
    ],
    ['builders of nobody', { buildersFleet: { enabled: true, ghAppSecretName: 's' } }, /without buildersFleet\.ghOrg/],
    ...[
      '',
      'self-hosted,macos,bare-metal,vm-image-builder',
      'vm-image-builder, bare-metal,MACOS,self-hosted',
      'self-hosted,macOS,ARM64',
    ].map((ghRunnerLabels): [string, Values, RegExp] => [
      `builders that any other cluster could have, labelled "${ghRunnerLabels}"`,
      fleetWith('buildersFleet', { ghRunnerLabels }),
      /no label of its own: .*take each other's jobs\. Name the environment, as in .*,production/,
    ]),
    [
      'less time than a reinstall takes',
      fleetWith('macosFleet', { healthCheck: { nodeStartupTimeoutSeconds: 600 } }),
      /nodeStartupTimeoutSeconds 600 is shorter than half an hour/,
    ],
    [
      'a health check that wipes Macs in a roll',
      fleetWith('macosFleet', { healthCheck: { unhealthyTimeoutSeconds: 900 } }),
      /unhealthyTimeoutSeconds 900 is not above rollout\.gateDeadlineSeconds 900/,
    ],
    [
      'replacing machines with none more and none less',
      fleetWith('macosFleet', { machineRollout: { maxUnavailable: 0 } }),
      /no machine could ever be replaced/,
    ],
    [
      'a runners controller whose name no Service can have',
      { fullnameOverride: 'a'.repeat(45), runnersController: { enabled: true } },
      /longer than the 63 characters of a Service name.*Set fullnameOverride/,
    ],
    ['a tailnet without a key', { tailscale: { enabled: true, tags: ['tag:a'] } }, /tailscale is enabled without/],
    ['a tailnet without tags', { tailscale: { enabled: true, secretName: 's' } }, /tailscale is enabled without/],
    ['a network without its DNS', { vmClusterEgress: { kuraServiceCIDR: '10.0.0.0/8' } }, /Set both or none/],
    ['a namespace with nothing to spread', { fleetSpread: { namespace: 'n' } }, /nothing to spread/],
  ];
  for (const [what, values, said] of contradictions)
    test(`${what}, with what to do`, async () => assert.match(await refusal(values), said));
});

describe('accepted values', () => {
  const taken: readonly [what: string, values: Values][] = [
    ['names of anybody when nothing is given back', fleetWith('runnersFleet', { name: 'others' })],
    ['machines that may take for ever', fleetWith('macosFleet', { healthCheck: { nodeStartupTimeoutSeconds: 0 } })],
    ['what Helm hands to charts in charts', { global: { anything: true } }],
    ['a share of a fleet', fleetWith('macosFleet', { healthCheck: { maxUnhealthy: '20%' } })],
    [
      'words that YAML could take for others',
      fleetWith('buildersFleet', { ghOrg: 'no', ghAppSecretName: 'y', ghRunnerLabels: 'off', name: 'on' }),
    ],
  ];
  for (const [what, values] of taken)
    test(what, async () => {
      const objects = await render(values);
      for (const { metadata } of objects) assert.equal(typeof metadata.name, 'string');
      const [template] = objects.filter(({ kind }) => kind === 'ScalewayAppleSiliconMachineTemplate');
      const runner = template?.['spec'].template.spec.ghActionsRunner;
      if (runner) assert.deepEqual(runner, { ghOrg: 'no', ghAppSecretName: 'y', ghRunnerLabels: 'off' });
    });

  /** As the API server reads quantities: a number of YAML is text in the manifest. */
  const quantities: readonly [given: string | number, manifest: string][] = [
    ['513Mi', '513Mi'],
    ['1Gi', '1Gi'],
    ['1.5G', '1.5G'],
    ['.5Gi', '.5Gi'],
    ['128974848', '128974848'],
    ['129e6', '129e6'],
    ['1E+9', '1E+9'],
    ['128974848000m', '128974848000m'],
    [2, '2'],
    [0.5, '0.5'],
  ];
  for (const [given, manifest] of quantities)
    test(`the quantity ${JSON.stringify(given)} in every request and limit`, async () => {
      const both = { cpu: given, memory: given };
      const resources = { requests: both, limits: both };
      const programs = { provider: { resources }, runnersController: { enabled: true, resources } };
      const written = { cpu: manifest, memory: manifest };
      const objects = await render(programs);
      for (const component of ['provider', 'runners-controller'])
        assert.deepEqual(deploymentOf(objects, component)['spec'].template.spec.containers[0].resources, {
          requests: written,
          limits: written,
        });
    });

  test('an empty quantity sets nothing, and by default there is a memory limit of 256Mi and no CPU limit', async () => {
    const resourcesWith = async (limits: Values) => {
      const objects = await render({ provider: { resources: { limits } } });
      return deploymentOf(objects, 'provider')['spec'].template.spec.containers[0].resources;
    };
    assert.deepEqual(await resourcesWith({}), {
      requests: { cpu: '50m', memory: '192Mi' },
      limits: { memory: '256Mi' },
    });
    assert.deepEqual((await resourcesWith({ memory: '' })).limits, null);
  });

  test('are those of the schema, each with its default', () => {
    interface Schema {
      default?: unknown;
      properties?: Record<string, Schema>;
    }
    const schema = JSON.parse(readFileSync(join(chart, 'values.schema.json'), 'utf8')) as Schema;
    const defaults = ({ properties, default: value }: Schema): unknown =>
      properties === undefined
        ? value
        : Object.fromEntries(
            Object.entries(properties).flatMap(([name, inner]) => (name === 'global' ? [] : [[name, defaults(inner)]])),
          );
    assert.deepEqual(parse(readFileSync(join(chart, 'values.yaml'), 'utf8')), defaults(schema));
  });
});

describe('the notes that helm prints', () => {
  const notes = async (values: Values): Promise<string> => {
    const args = ['install', 'tartan', chart, '--namespace', 'macs', '--dry-run=client', '--hide-secret'];
    const { code, stdout, stderr } = await helm(args, values);
    assert.equal(code, 0, stderr);
    return stdout.slice(stdout.indexOf('NOTES:'));
  };

  test('name the fleets and the next commands, and say that stranded Macs are only reported', async () => {
    const text = await notes({ ...production, ...allFleets, fullnameOverride: '' });
    assert.match(text, /kubectl -n macs get macfleets/);
    assert.match(text, /tartan-macos-fleet: 1 Mac, M2-L in fr-par-1/);
    assert.match(text, /tartan-builders-fleet: 0 Macs/);
    assert.match(text, /only reported, in the metric scaleway_orphan_servers/);
    assert.match(text, /capi-remote-token/);
    assert.match(text, /kubectl -n macs get rpool/);
    assert.match(text, /delete the RunnerPools and wait/);
  });

  test('warn of a sweep that wipes, of fleets that wait, and of missing alerts', async () => {
    const text = await notes(fleetWith('macosFleet', { ...sweeping, rollout: { paused: true }, waitForMacs: false }));
    assert.match(text, /stranded servers named tartan-… are wiped/);
    assert.match(text, /paused: no Mac gets a new agent/);
    assert.match(text, /waitForMacs is false/);
    assert.match(text, /alerts\.enabled is false/);
    assert.match(await notes({}), /There is no fleet yet/);
    assert.doesNotMatch(await notes({}), /rpool/);
    assert.match(await notes({ capi: { enabled: false } }), /nothing was installed/);
  });
});
