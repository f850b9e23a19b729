import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { annotations } from '@tartan/api';
import { argsOf, namespace, ofKind, only, refusal, render, type Rendered } from './chart/render.ts';
import { allFleets, type FleetKey, fleetKeys, fleetWith, production, type Values } from './chart/value-sets.ts';

const sizes = [annotations.autoscalerMinSize, annotations.autoscalerMaxSize] as const;
const wordOf = (key: FleetKey): string => key.replace(/Fleet$/, '');
const templateIn = (objects: readonly Rendered[]): Rendered => only(objects, 'ScalewayAppleSiliconMachineTemplate');

describe('the flags of the sweep (tuist/tuist#11056)', () => {
  const swept = /^--(default-adopt-pool-prefix|orphan-reclaim-)/;
  const flags = async (values: Values): Promise<readonly string[]> =>
    argsOf(await render(values, 'tuist')).filter((argument) => swept.test(argument));
  const reporting = ['--default-adopt-pool-prefix=tuist-pool-', '--orphan-reclaim-zones=fr-par-1'];

  test('only report in production', async () => {
    assert.deepEqual(await flags(production), reporting);
  });

  test('reclaim Macs with our names when the switch is on', async () => {
    const macosFleet = { ...(production['macosFleet'] as object), orphanReclaim: { activeReclaim: true } };
    assert.deepEqual(await flags({ ...production, macosFleet }), [
      ...reporting,
      '--orphan-reclaim-claim-name-prefix=tuist-tuist-',
    ]);
  });

  test('list the zones of existing fleets, each once, in order', async () => {
    const zoned = (key: FleetKey, zone: string, enabled = true): Values =>
      fleetWith(key, { enabled, machine: { zone } });
    assert.deepEqual(await flags({ ...zoned('macosFleet', 'nl-ams-1'), ...zoned('runnersFleet', 'fr-par-3') }), [
      '--default-adopt-pool-prefix=tuist-pool-',
      '--orphan-reclaim-zones=fr-par-3,nl-ams-1',
    ]);
    assert.deepEqual(
      await flags({
        ...zoned('macosFleet', 'fr-par-1'),
        ...zoned('runnersFleet', 'fr-par-1'),
        ...zoned('buildersFleet', 'nl-ams-1', false),
      }),
      reporting,
    );
    assert.deepEqual(await flags({}), reporting.slice(0, 1));
  });

  test('match the names of the machines of every fleet', async () => {
    const deployments = ofKind(await render(production, 'tuist'), 'MachineDeployment');
    assert.deepEqual(
      deployments.map(({ metadata }) => metadata.name),
      ['tuist-tuist-macos-fleet', 'tuist-tuist-runners-fleet', 'tuist-tuist-builders-fleet'],
    );
  });
});

describe('names of releases', () => {
  const cases: readonly [release: string, values: Values, prefix: string][] = [
    ['tartan', {}, 'tartan'],
    ['my-tartan', {}, 'my-tartan'],
    ['macs', {}, 'macs-tartan'],
    ['macs', { fullnameOverride: 'tuist-tuist' }, 'tuist-tuist'],
  ];
  for (const [release, values, prefix] of cases)
    test(`${release} ${JSON.stringify(values)} is ${prefix}`, async () => {
      const objects = await render({ ...values, ...allFleets }, release);
      assert.equal(only(objects, 'Deployment').metadata.name, `${prefix}-provider`);
      for (const kind of ['Cluster', 'ScalewayAppleSiliconCluster', 'ExternalControlPlane'])
        assert.equal(only(objects, kind).metadata.name, `${release}-capi`);
      for (const { kind, metadata } of objects) {
        const fixed = ['capi-remote', `${release}-capi`].includes(metadata.name);
        assert.ok(fixed || metadata.name.startsWith(prefix), `${kind} ${metadata.name}`);
      }
    });
});

for (const key of fleetKeys)
  describe(`the ${key}`, () => {
    const name = `tartan-${wordOf(key)}-fleet`;

    test('has one name everywhere', async () => {
      const objects = await render(fleetWith(key));
      const deployment = only(objects, 'MachineDeployment', name);
      const template = templateIn(objects);
      assert.match(template.metadata.name, new RegExp(`^${name}-[0-9a-f]{8}$`));
      assert.equal(template['spec'].template.spec.fleetName, name);
      assert.equal(deployment['spec'].template.spec.infrastructureRef.name, template.metadata.name);
      const labels = { 'cluster.x-k8s.io/cluster-name': 'tartan-capi', 'tuist.dev/fleet': name };
      assert.equal(deployment.metadata.labels?.['tuist.dev/fleet'], name);
      assert.deepEqual(deployment['spec'].selector.matchLabels, labels);
      assert.deepEqual(deployment['spec'].template.metadata.labels, labels);
      assert.equal(only(objects, 'MacFleet', name).metadata.namespace, namespace);
      assert.deepEqual(only(objects, 'MachineHealthCheck', name)['spec'].selector.matchLabels, {
        'tuist.dev/fleet': name,
      });
      assert.deepEqual(only(objects, 'MachineDrainRule', name)['spec'].machines, [
        { selector: { matchLabels: { 'tuist.dev/fleet': name } } },
      ]);
    });

    test('keeps only its templates at an uninstall', async () => {
      const kept = (await render(fleetWith(key))).filter(
        ({ metadata }) => metadata.annotations?.['helm.sh/resource-policy'],
      );
      assert.deepEqual(
        kept.map(({ kind }) => kind),
        ['ScalewayAppleSiliconMachineTemplate'],
      );
    });

    test('has the number of Macs in its MacFleet; its MachineDeployment starts with it and is scaled by others', async () => {
      for (const replicas of [0, 12]) {
        const objects = await render(fleetWith(key, { replicas }));
        assert.equal(only(objects, 'MacFleet')['spec'].replicas, replicas);
        const { metadata, spec } = only(objects, 'MachineDeployment');
        assert.equal(spec.replicas, undefined);
        for (const name of [...sizes, annotations.initialReplicas, annotations.heldReplicas])
          assert.equal(metadata.annotations?.[name], String(replicas), name);
      }
    });

    test('is rejected without a number, unless another writer sets one: Cluster API would default to 1', async () => {
      assert.match(await refusal(fleetWith(key, { replicas: null })), /replicas is null.*Set the number of Macs/);
      const range = { [sizes[0]]: '2', [sizes[1]]: '20' };
      const objects = await render(fleetWith(key, { replicas: null, annotations: range }));
      const { 'tuist.dev/machines-revision': _, ...others } =
        only(objects, 'MachineDeployment').metadata.annotations ?? {};
      assert.deepEqual(others, range);
      assert.equal('replicas' in only(objects, 'MacFleet')['spec'], false);
      for (const name of sizes)
        assert.match(await refusal(fleetWith(key, { annotations: { [name]: '2' } })), /Set both or none/);
    });

    test('is paused by its release in a field of its own', async () => {
      for (const paused of [true, false]) {
        const { spec } = only(await render(fleetWith(key, { rollout: { paused } })), 'MacFleet');
        assert.deepEqual([spec.paused, spec.pausedByRelease], [undefined, paused]);
      }
    });

    test('has the MachineDeployment that was written with it in its MacFleet, so that helm waits for that one', async () => {
      const wordWith = async (more: Values): Promise<string> => {
        const objects = await render(fleetWith(key, more));
        const { annotations } = only(objects, 'MachineDeployment').metadata;
        const word = only(objects, 'MacFleet')['spec'].machinesRevision;
        assert.equal(annotations?.['tuist.dev/machines-revision'], word);
        return word;
      };
      const words = [{}, { machine: { zone: 'nl-ams-1' } }, { machine: { type: 'M4-M' } }].map(wordWith);
      assert.equal(new Set(await Promise.all(words)).size, words.length);
      assert.equal(await wordWith({ replicas: 7, rollout: { maxUnavailable: 3 } }), await words[0]);
    });

    test('loses no Mac in an outage of the whole fleet, and Pods of jobs are drained first', async () => {
      const objects = await render(fleetWith(key));
      const { checks, remediation } = only(objects, 'MachineHealthCheck')['spec'];
      assert.ok(checks.nodeStartupTimeoutSeconds >= 1800);
      assert.deepEqual(
        checks.unhealthyNodeConditions.map(({ type, status }: { type: string; status: string }) => [type, status]),
        [
          ['Ready', 'False'],
          ['Ready', 'Unknown'],
        ],
      );
      assert.deepEqual(remediation, { triggerIf: { unhealthyLessThanOrEqualTo: '50%' } });
      const { drain, pods } = only(objects, 'MachineDrainRule')['spec'];
      assert.equal(drain.behavior, 'WaitCompleted');
      assert.deepEqual(pods, [
        { selector: { matchLabels: { 'tuist.dev/runner': 'true' } } },
        { selector: { matchExpressions: [{ key: 'batch.kubernetes.io/job-name', operator: 'Exists' }] } },
      ]);
      const { rollout, template } = only(objects, 'MachineDeployment')['spec'];
      assert.deepEqual(rollout.strategy, { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } });
      assert.ok(template.spec.deletion.nodeDrainTimeoutSeconds > 0, 'there is a way out');
    });

    test('has the version of its Machines in its Nodes', async () => {
      const objects = await render(fleetWith(key, { kubeletVersion: 'v1.36.3' }));
      assert.equal(only(objects, 'MachineDeployment')['spec'].template.spec.version, 'v1.36.3');
      assert.equal(templateIn(objects)['spec'].template.spec.kubeletVersion, 'v1.36.3');
    });
  });

describe('several fleets', () => {
  /** Of each fleet, when all have the same values. */
  const namesWith = async (more: Values): Promise<Readonly<Record<FleetKey, string>>> => {
    const values = Object.assign({}, ...fleetKeys.map((key) => fleetWith(key, more))) as Values;
    const templates = ofKind(await render(values), 'ScalewayAppleSiliconMachineTemplate');
    const nameOf = (key: FleetKey) =>
      templates.find(({ metadata }) => metadata.name.includes(wordOf(key)))?.metadata.name;
    return Object.fromEntries(fleetKeys.map((key) => [key, nameOf(key)])) as Record<FleetKey, string>;
  };

  test('keep their templates when only other values than those of machines change', async () => {
    const before = await namesWith({});
    const same: readonly Values[] = [
      { replicas: 7 },
      { rollout: { maxUnavailable: 3, paused: true }, waitForMacs: false },
      { healthCheck: { enabled: false }, drain: { enabled: false } },
      { nodeDrainTimeoutSeconds: 60, machineRollout: { type: 'OnDelete' }, annotations: { a: 'b' } },
    ];
    for (const more of same) assert.deepEqual(await namesWith(more), before, JSON.stringify(more));
  });

  test('each get other templates when the values of their machines change', async () => {
    const other: readonly Values[] = [
      {},
      { machine: { type: 'M4-M' } },
      { machine: { zone: 'nl-ams-1' } },
      { machine: { os: 'Sequoia' } },
      { machine: { hostCPU: 4 } },
      { machine: { hostMemoryMB: 8192 } },
      { machine: { maxPods: 1 } },
      { kubeletVersion: 'v1.36.3' },
      { adoptPoolPrefix: 'other-pool-' },
    ];
    const names = await Promise.all(other.map(namesWith));
    for (const key of fleetKeys)
      assert.equal(new Set(names.map((each) => each[key])).size, other.length, `${key}: ${JSON.stringify(names)}`);
    const ofBuilders = [{}, { ghOrg: 'o' }, { ghRunnerLabels: 'a,b' }, { ghAppSecretName: 's' }].map(
      async (more) => templateIn(await render(fleetWith('buildersFleet', more))).metadata.name,
    );
    assert.equal(new Set(await Promise.all(ofBuilders)).size, 4);
  });

  test('differ only in names, and where their values differ', async () => {
    const objects = await render({ ...allFleets, macosFleet: { enabled: true, replicas: 0 } });
    const withoutNames = (kind: string, word: string): unknown =>
      JSON.parse(
        JSON.stringify(ofKind(objects, kind).filter(({ metadata }) => metadata.name.includes(word)))
          .replaceAll(`${word}-fleet`, 'fleet')
          .replaceAll(/fleet-[0-9a-f]{8}/g, 'fleet-HASH')
          .replaceAll(/("(?:tuist.dev\/machines-revision|machinesRevision)":")[0-9a-f]{12}/g, '$1HASH'),
      );
    for (const kind of ['MachineDeployment', 'MacFleet', 'MachineHealthCheck', 'MachineDrainRule']) {
      assert.deepEqual(withoutNames(kind, 'runners'), withoutNames(kind, 'macos'), kind);
      assert.deepEqual(withoutNames(kind, 'builders'), withoutNames(kind, 'macos'), kind);
    }
  });

  test('use the pool of the macosFleet, unless they name another', async () => {
    const objects = await render({
      ...allFleets,
      macosFleet: { enabled: true, adoptPoolPrefix: 'spare-' },
      runnersFleet: { enabled: true, adoptPoolPrefix: 'spare-runners-' },
    });
    const pools = ofKind(objects, 'ScalewayAppleSiliconMachineTemplate').map(
      ({ spec }) => spec.template.spec.adoptPoolPrefix,
    );
    assert.deepEqual(pools, ['spare-', 'spare-runners-', 'spare-']);
    assert.ok(argsOf(objects).includes('--adopt-pool-prefixes=spare-,spare-runners-'));
  });
});
